"""`geocrawl harvest` on pycsw and pygeoapi: their records are read and the map servers that they name are found."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import httpx
import pytest
from lxml import etree

from geocrawl.urls import get_records_url, read_url
from geocrawl.urls.slices import modified_since
from tests.servers.conftest import Geocrawl

pytestmark = [pytest.mark.servers, pytest.mark.shared]


def harvest(command: Geocrawl, url: str, *options: str) -> dict[str, Any]:
    """What the command says it did."""
    done = command.run("harvest", url, "--db", str(command.db), "--json", "--allow-private", "--delay", "0", *options)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def found(command: Geocrawl, kind: str) -> dict[str, tuple[str, str]]:
    """Address of each valid endpoint of a kind → (signal, anchor of its record)."""
    with sqlite3.connect(command.db) as connection:
        rows = connection.execute(
            "SELECT url, signal, anchor FROM endpoint JOIN evidence ON endpoint_id = endpoint.id "
            "WHERE status = 'valid' AND kind = ?",
            (kind,),
        )
        return {url: (signal, anchor) for url, signal, anchor in rows}


@pytest.mark.parametrize("spelling", ["", "?service=CSW&version=2.0.2&request=GetCapabilities"])
def test_the_records_of_pycsw_lead_to_the_map_servers(
    servers: dict[str, dict[str, Any]], command: Geocrawl, spelling: str
) -> None:
    csw = servers["pycsw"]["csw"]
    result = harvest(command, csw + spelling)
    # 20 records; the server cuts a page to ten whatever is asked for, and ends with nextRecord 0.
    assert (result["pages"], result["stopped"]) == (2, "done")
    maps = found(command, "wms")
    assert {servers[name]["wms"] for name in ("mapserver", "qgis", "mapproxy")} <= set(maps)
    assert {signal for signal, _ in maps.values()} <= {"csw-record", "sibling"}
    assert any("of the Zürich survey" in anchor for _, anchor in maps.values())


def test_a_second_harvest_probes_nothing_again_and_since_reads_less(
    servers: dict[str, dict[str, Any]], command: Geocrawl
) -> None:
    csw = servers["pycsw"]["csw"]
    probed = harvest(command, csw)
    assert probed["pages"] == 2
    again = harvest(command, csw)
    assert (again["pages"], again["probes"]) == (2, 0)
    changed = harvest(command, csw, "--since", "2024-02-07")
    assert (changed["pages"], changed["since"]) == (2, "2024-02-07"), "one shows that it selects by date"


def test_pycsw_chooses_records_by_the_filter_of_since(servers: dict[str, dict[str, Any]]) -> None:
    csw = read_url(servers["pycsw"]["csw"])
    assert csw is not None

    def matched(since: str) -> int:
        whole = get_records_url(csw)
        asked = (modified_since(whole, since) if since else whole).address
        results = etree.fromstring(httpx.get(asked).content).find("{*}SearchResults")
        assert results is not None, httpx.get(asked).text[:1500]
        return int(results.get("numberOfRecordsMatched", ""))

    assert 0 < matched("2024-02-07") < matched("2000-01-01") == matched("") == 20
    assert matched("2100-01-01") == 0


def test_version_3_is_read_as_well(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    csw = read_url(servers["pycsw"]["csw"])
    assert csw is not None
    assert harvest(command, get_records_url(csw, version="3.0.0").address)["pages"] == 2
    assert servers["mapserver"]["wms"] in found(command, "wms")


def test_the_records_of_an_ogc_api_lead_to_the_map_server(
    servers: dict[str, dict[str, Any]], command: Geocrawl
) -> None:
    result = harvest(command, servers["pygeoapi"]["ogcapi"])
    assert result["stopped"] == "done"
    assert servers["mapserver"]["wms"] in found(command, "wms")


def test_a_map_server_is_no_catalogue(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    done = command.run("harvest", f"{servers['mapserver']['wms']}/none", "--db", str(command.db), "--allow-private")
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
