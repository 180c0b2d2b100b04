"""The entries of a list are checked as a client would use them, on the demo's web and on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from geocrawl.app.list_check import EntryResult, EntryState, check_list
from geocrawl.app.list_entries import ListEntry
from geocrawl.demo import DemoWeb
from geocrawl.demo.services import _GEOSERVER as GEOSERVER
from geocrawl.demo.services import SERVICES
from geocrawl.model import Kind
from geocrawl.settings import Settings
from tests.support.crawls import settings_for
from tests.support.loopback import Handler, running

WMS = f"{GEOSERVER}/wms"
KNOWN = ("png", "jpeg")


def entry(url: str, *layers: str, kind: Kind | None = None, crs: str = "", format_: str = "") -> ListEntry:
    return ListEntry(url, url, kind, layers, crs, format_)


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def check(web: DemoWeb, *entries: ListEntry) -> list[EntryResult]:
    results, _ = check_list(settings_for(web), entries)
    assert [result.url for result in results] == [entry.url for entry in entries]
    return results


def test_each_entry_gets_the_state_that_a_client_meets(web: DemoWeb) -> None:
    drawn, missing, system, draft, protected, gone = check(
        web,
        entry(WMS, "roads", crs="EPSG:4326"),
        entry(WMS, "roads_2019"),
        entry(WMS, "rivers", crs="EPSG:27700"),
        entry(f"{GEOSERVER}/draft/wms", "x"),
        entry(f"{GEOSERVER}/cadastre/wms", "x"),
        entry(f"{GEOSERVER}/wfs-of-yesterday", "x"),
    )
    assert drawn.state is EntryState.OK and "LAYERS=roads" in drawn.requested and not drawn.has_failed
    assert (missing.state, missing.nearest) == (EntryState.LAYER_MISSING, "roads") and missing.has_failed
    assert system.state is EntryState.CRS_MISSING and "EPSG:27700" in system.detail
    assert (draft.state, draft.reason) == (EntryState.NOT_CHECKED, "robots") and not draft.has_failed
    assert (protected.state, protected.reason) == (EntryState.NO_SERVICE, "protected")
    assert (gone.state, gone.reason) == (EntryState.NO_SERVICE, "http-404")


def test_a_service_is_asked_once_for_what_its_entries_share(web: DemoWeb) -> None:
    names = [name for service in SERVICES if service.address == WMS for name, _ in service.layers]
    before = len(web.requests)
    results = check(web, *(entry(WMS, name) for name in names))
    asked = [each for each in map(str, web.requests[before:]) if "/geoserver/wms" in each]
    assert [result.state for result in results] == [EntryState.OK] * len(names) and len(names) > 2
    capabilities = [each for each in asked if "getcapabilities" in each.lower()]
    assert len(capabilities) <= 2, "the document of each version at most once"
    for name in names:
        assert any(f"LAYERS={name}&" in each for each in asked), name


def test_an_entry_of_several_layers_works_when_all_do(web: DemoWeb) -> None:
    both, one = check(web, entry(WMS, "roads", "rivers"), entry(WMS, "roads", "nothing-like-it"))
    assert both.state is EntryState.OK
    assert one.state is EntryState.LAYER_MISSING and "nothing-like-it" in one.detail and one.nearest == ""


def test_a_tile_of_the_layer_that_the_entry_names_is_requested(web: DemoWeb) -> None:
    address = "http://maps.sandhaven-harbour.example/charts/wmts"
    results = check(web, *(entry(address, name, kind=Kind.WMTS) for name in ("fairways", "anchorages")))
    assert [result.state for result in results] == [EntryState.OK] * 2
    assert "fairways" in results[0].requested and "anchorages" in results[1].requested
    asked = [each for each in map(str, web.requests) if "/charts/wmts" in each and "getcapabilities" in each.lower()]
    assert len(asked) == 1, "what the probe has read, the first content check does not request again"


def test_each_entry_is_asked_in_its_own_reference_system_and_format(web: DemoWeb) -> None:
    wms = [
        entry(WMS, "roads", crs=crs, format_=f"image/{name}") for crs in ("EPSG:4326", "EPSG:3857") for name in KNOWN
    ]
    wmts = entry("http://maps.sandhaven-harbour.example/charts/wmts", "fairways", kind=Kind.WMTS, format_="image/webp")
    *drawn, tiles = check(web, *wms, wmts)
    for each, result in zip(wms, drawn, strict=True):
        assert result.state is EntryState.OK, result
        assert f"CRS={each.crs}" in result.requested and f"FORMAT={each.format}" in result.requested, result
    assert (tiles.state, tiles.has_failed) == (EntryState.FORMAT_MISSING, True)
    assert tiles.detail == "fairways is not offered as image/webp, but as image/png"


def test_what_cannot_be_asked_says_why(web: DemoWeb) -> None:
    (tiles,) = check(web, ListEntry("tiles", "http://tiles.example/{z}/{x}/{y}.png", why_not="a template of tiles"))
    assert (tiles.state, tiles.detail) == (EntryState.NOT_CHECKED, "a template of tiles")


class _Moved(Handler):
    def respond(self) -> None:
        self.send_response(404 if "robots" in self.path else 301)
        self.send_header("Location", f"http://127.0.1.77:9{self.path}")
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_a_service_that_moved_names_its_new_address() -> None:
    settings = Settings(allow_private=True, delay_s=0.0, siblings=0, patience_s=1.0)
    with running(ThreadingHTTPServer(("127.0.1.76", 0), _Moved)) as server:
        url = f"http://127.0.1.76:{server.server_address[1]}/wms"
        (result,), _ = check_list(settings, [entry(url, "roads")])
    assert result.state is EntryState.MOVED and result.moved_to.startswith("http://127.0.1.77:9/wms")


def test_a_host_that_nothing_listens_on_is_no_service(tmp_path: Path) -> None:
    settings = Settings(allow_private=True, delay_s=0.0, siblings=0, patience_s=1.0)
    (result,), _ = check_list(settings, [entry("http://127.0.1.78:9/wms", "roads")])
    assert result.state is EntryState.NO_SERVICE and result.has_failed
