"""The shipped portals and endpoints are chosen by country, software and number, and probed as any list is."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app
from geocrawl.cli.addresses import ENDPOINTS, PORTALS, ShippedChoice, shipped_rows
from geocrawl.model import Kind
from geocrawl.urls import read_url
from scripts.shipped_seeds import endpoint_rows, kind_of, portal_rows, read_registry, spread
from tests.support import forked
from tests.support.answers import CAPABILITIES
from tests.support.loopback import Handler, Server, running


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = forked.geocrawl(arguments, env={**os.environ, "HOME": str(tmp_path)}, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    return done


def test_every_shipped_row_has_an_address_and_a_known_kind() -> None:
    portals, endpoints = list(shipped_rows(PORTALS, ShippedChoice())), list(shipped_rows(ENDPOINTS, ShippedChoice()))
    assert len(portals) > 5_000 and len({row["country"] for row in portals}) > 150
    assert len(endpoints) > 8_000 and all(Kind(row["kind"]) for row in endpoints)
    assert all(read_url(row["url"]) for row in (*portals, *endpoints))


@pytest.mark.parametrize("name", [PORTALS, ENDPOINTS])
def test_the_beginning_of_a_list_is_spread_over_hosts_and_countries(name: str) -> None:
    first = list(islice(shipped_rows(name, ShippedChoice()), 100))
    hosts = [url.host for row in first if (url := read_url(row["url"]))]
    assert len(set(hosts)) == 100
    assert len({row["country"] for row in first}) == 100


def test_a_list_is_chosen_by_country_software_language_and_number() -> None:
    chosen = list(shipped_rows(PORTALS, ShippedChoice(country="DE,at", software="GeoServer", limit=7)))
    assert len(chosen) == 7
    assert {row["country"] for row in chosen} == {"DE", "AT"} and {row["software"] for row in chosen} == {"geoserver"}
    assert all(
        "de" in row["language"].split() for row in shipped_rows(PORTALS, ShippedChoice(language="de", region="europe"))
    )


def test_shipped_portals_become_start_pages(tmp_path: Path) -> None:
    done = run(tmp_path, "seeds", "add", "--shipped", "--country", "AT", "--limit", "5", "--db", "s.db")
    assert done.returncode == 0 and "5 start pages added" in done.stdout
    listed = run(tmp_path, "seeds", "list", "--shipped", "--country", "AT", "--limit", "5", "--format", "jsonl")
    assert [json.loads(line)["country"] for line in listed.stdout.splitlines()] == ["AT"] * 5


@pytest.mark.parametrize(
    "command",
    [
        "seeds add --country AT",
        "seeds list --software geoserver",
        "probe http://a.example/ --country AT",
        "probe --shipped http://a.example/",
        "probe --shipped --country XX",
        "seeds add --shipped --country XX",
    ],
)
def test_a_choice_of_nothing_is_wrong_use(tmp_path: Path, command: str) -> None:
    assert run(tmp_path, *command.split()).returncode == 2


@pytest.fixture
def origin() -> Iterator[str]:
    class Maps(Handler):
        def respond(self) -> None:
            body = CAPABILITIES.encode() if "GetCapabilities" in self.path else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.write(body)

    with running(Server(Maps)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"


def test_the_shipped_endpoints_are_probed_as_a_list_with_its_progress(
    tmp_path: Path, origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "endpoints.csv.gz"
    lines = [
        "url,kind,country,software",
        *(f"{origin}/{n}/ows?service=WMS&request=GetCapabilities,wms,AT,x" for n in "abc"),
    ]
    table.write_bytes(gzip.compress("\n".join(lines).encode()))
    monkeypatch.setattr("geocrawl.cli.addresses.shipped_path", lambda name: table)
    monkeypatch.setattr("geocrawl.cli.probe.PROGRESS_S", 0.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = str(tmp_path / "c.db")
    done = CliRunner().invoke(
        app, ["probe", "--shipped", "--save", "--json", "--db", path, "--allow-private", "--delay", "0", "--limit", "2"]
    )
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["status"] for line in done.stdout.splitlines()] == ["valid"] * 2
    assert "1 of 2 done, 1 valid" in done.stderr


CHECKOUT = """\
catalog_type: {type}
coverage:
- location:
    country:
      id: AT
endpoints:
- type: wms130
  url: https://{host}/geoserver/ows?service=WMS&version=1.3.0&request=GetCapabilities
- type: wms111
  url: https://{host}/geoserver/ows?service=WMS&version=1.1.1&request=GetCapabilities
- type: oaipmh20
  url: https://{host}/oai
langs: [DE]
link: https://{host}/geoserver
name: Maps of {host}
software:
  id: geoserver
status: {status}
"""


def test_a_checkout_of_the_registry_gives_its_living_geoportals_and_each_endpoint_once(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "entities" / "AT" / "geo"
    folder.mkdir(parents=True)
    for host, type_, status in (
        ("a.example", "Geoportal", "active"),
        ("b.example", "Geoportal", "inactive"),
        ("c.example", "Open data portal", "active"),
    ):
        (folder / f"{host}.yaml").write_text(CHECKOUT.format(host=host, type=type_, status=status), "utf-8")
    portals, endpoints = read_registry(tmp_path)
    (portal,) = spread(portal_rows(portals))
    assert portal == {
        **{"url": "https://a.example/geoserver", "title": "Maps of a.example", "region": "Europe"},
        **{"country": "AT", "language": "de", "software": "geoserver"},
    }
    (endpoint,) = endpoint_rows(endpoints, portals)
    assert (endpoint["kind"], endpoint["country"]) == ("wms", "AT")


@pytest.mark.parametrize(
    ("name", "kind"), [("wms-c111", "wmsc"), ("wcs11", "wcs"), ("arcgis:rest:services", "arcgis"), ("dcatus11", None)]
)
def test_the_registrys_types_are_kinds(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind
