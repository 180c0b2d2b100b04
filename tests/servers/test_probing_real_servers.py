"""`geocrawl probe` on MapServer, QGIS Server and MapProxy, asked in every spelling that pages use."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.conftest import EXPECTED, Geocrawl

pytestmark = [pytest.mark.servers, pytest.mark.shared]

SPELLINGS = {
    "bare": "",
    "as the standard has it": "?SERVICE=WMS&REQUEST=GetCapabilities",
    "values in lower case": "?service=wms&request=getcapabilities",
    "an old version": "?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities",
    "a version cut short": "?SERVICE=WMS&version=1.3&REQUEST=GetCapabilities",
    "no version's value": "?SERVICE=WMS&VERSION=&REQUEST=GetCapabilities",
    "escaped twice": "?service=WMS&amp;request=GetCapabilities",
    "pasted twice": "?service=WMS&request=GetCapabilities?service=WMS&request=GetCapabilities",
    "left over from a map": "?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=none&BBOX=0,0,1,1&SRS=EPSG:4326&WIDTH=9",
    "no service": "?REQUEST=GetCapabilities",
}


@pytest.mark.parametrize("server", EXPECTED)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_server_is_valid_however_its_address_is_spelt(
    servers: dict[str, dict[str, Any]], command: Geocrawl, server: str, spelling: str
) -> None:
    base = servers[server]["wms"]
    verdict = command.probe(base + SPELLINGS[spelling])
    assert (verdict["status"], verdict["reason"]) == ("valid", "ok"), verdict
    assert (verdict["kind"], verdict["url"], verdict["exit_code"]) == ("wms", base, 0)
    assert (verdict["title"], verdict["layers"]) == (EXPECTED[server].title, EXPECTED[server].layers)
    assert verdict["version"] == "1.3.0"


def test_a_compressed_answer_behind_a_rewritten_path_is_valid(
    servers: dict[str, dict[str, Any]], command: Geocrawl
) -> None:
    verdict = command.probe(servers["extras"]["rewrite"])
    assert (verdict["status"], verdict["title"]) == ("valid", EXPECTED["mapserver"].title)


def test_a_redirect_within_the_host_leads_to_the_service(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    verdict = command.probe(servers["extras"]["redirect"])
    assert (verdict["status"], verdict["title"]) == ("valid", EXPECTED["mapserver"].title)


def test_a_service_behind_a_password_is_protected(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    verdict = command.probe(servers["extras"]["password"])
    assert (verdict["status"], verdict["reason"], verdict["exit_code"]) == ("invalid", "protected", 1)


def test_a_certificate_that_nobody_vouches_for_is_a_deviation_or_with_strict_tls_a_failure(
    servers: dict[str, dict[str, Any]], command: Geocrawl
) -> None:
    verdict = command.probe(servers["extras"]["tls"])
    assert (verdict["status"], verdict["reason"]) == ("valid", "ok")
    assert "tls-self-signed" in verdict["deviations"]
    strict = command.probe(servers["extras"]["tls"], "--strict-tls")
    assert (strict["status"], strict["reason"]) == ("invalid", "tls")


def test_a_page_of_a_server_is_no_service(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    verdict = command.probe(servers["mapproxy"]["html"])
    assert (verdict["status"], verdict["exit_code"]) == ("invalid", 1)


def test_loopback_is_not_asked_without_leave(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    done = command.run("probe", servers["mapserver"]["wms"], "--json")
    assert done.returncode == 1
    assert '"guard"' in done.stdout
