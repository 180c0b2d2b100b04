"""Pages with OpenLayers and Leaflet: hostile texts end no script, and the pages show services in a real browser."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from geocrawl.export.webmaps import MOST_LAYERS, write_webmap
from geocrawl.model.catalogue import Layer, Service
from tests.support.parts import CHROMIUM, MAP_LIBRARIES, NODE, lack
from tests.support.published import LAYER, ROADS, WEB_MAP_KINDS, hostile, layers_of, numbered, of_every_kind

LIBRARIES = Path(os.environ.get("NODE_MODULES", "/nonexistent"))
"""A folder `node_modules` with `ol` and `leaflet`, of the versions that the pages name."""
FILES = {
    "/npm/ol@10.11.0/ol.css": "ol/ol.css",
    "/npm/ol@10.11.0/dist/ol.js": "ol/dist/ol.js",
    "/npm/leaflet@1.9.4/dist/leaflet.css": "leaflet/dist/leaflet.css",
    "/npm/leaflet@1.9.4/dist/leaflet.js": "leaflet/dist/leaflet.js",
}


class Scripts(HTMLParser):
    """Collects the tags of a page, and its scripts as a browser delimits them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"] and data.strip():
            self.scripts.append(data)


def page(library: str, services: list[Service], layers: list[Layer] | None = None) -> str:
    out = io.StringIO()
    write_webmap(library, services, layers_of(services) if layers is None else layers, out)
    return out.getvalue().encode("utf-8", "replace").decode()


def parsed(text: str) -> Scripts:
    reader = Scripts()
    reader.feed(text)
    return reader


def entries(text: str) -> list[dict[str, object]]:
    (script,) = parsed(text).scripts
    lines = script.partition("[\n")[2].partition("\n];")[0].split("\n")
    return [json.loads(line.rstrip(",")) for line in lines if line]


@pytest.mark.parametrize(("zoom", "first"), [(3, [None]), (4, [1]), (2, []), (None, [])])
def test_tiles_are_shifted_to_the_zoom_levels_of_the_web(zoom: int | None, first: list[int | None]) -> None:
    services = [ROADS, replace(ROADS, kind="tms", tile="https://t.example/1.0.0/a/3/2/1.png", tile_zoom=zoom)]
    for library in ("openlayers", "leaflet"):
        shown = entries(page(library, numbered(services)))
        assert [each.get("firstZoom") for each in shown if each["kind"] == "tms"] == first


@pytest.mark.parametrize("library", WEB_MAP_KINDS)
def test_every_kind_that_the_library_shows_is_on_the_page(library: str) -> None:
    found = entries(page(library, of_every_kind()))
    assert {each["kind"] for each in found} == WEB_MAP_KINDS[library]
    assert [each["url"] for each in found if each["kind"] == "tilejson"] == ["https://t.example/b/{z}/{x}/{y}@2x.webp"]
    assert [each["box"] for each in found if each["title"] == "Nowhere"] == [None]
    assert all(len(each["layers"]) == (each["kind"] in ("wms", "wmsc", "wmts", "wfs", "ogcapi")) for each in found)  # type: ignore[arg-type]


@pytest.mark.parametrize("library", WEB_MAP_KINDS)
def test_hostile_texts_are_data(library: str) -> None:
    text = page(library, hostile())
    assert parsed(text).tags == parsed(page(library, [])).tags, "no tag came from a title"
    assert len(entries(text)) == len([each for each in hostile() if each.kind in WEB_MAP_KINDS[library]])


@pytest.mark.parametrize("library", WEB_MAP_KINDS)
def test_the_script_is_whole(library: str, tmp_path: Path) -> None:
    if (node := shutil.which("node")) is None:
        lack(NODE)
    (script,) = parsed(page(library, hostile() + of_every_kind())).scripts
    (tmp_path / "page.js").write_text(script, encoding="utf-8")
    done = subprocess.run([node, "--check", str(tmp_path / "page.js")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_service_with_many_layers_shows_the_first() -> None:
    layers = [replace(LAYER, position=number, name=f"l{number}") for number in range(MOST_LAYERS + 5)]
    (entry,) = entries(page("leaflet", numbered([ROADS]), layers))
    assert len(entry["layers"]) == MOST_LAYERS  # type: ignore[arg-type]


def test_layers_of_services_that_are_not_exported_are_passed_over() -> None:
    layers = [replace(LAYER, service_id=number, title=f"of {number}") for number in (1, 2, 3)]
    (entry,) = entries(page("leaflet", [replace(ROADS, id=2)], layers))
    assert entry["layers"] == [["roads", "of 2"]]


@pytest.mark.parametrize("library", WEB_MAP_KINDS)
def test_a_browser_requests_the_map(library: str, tmp_path: Path) -> None:
    """The page runs with the library whose checksum it names, and requests what the chosen service offers."""
    chromium = shutil.which("chromium")
    if not LIBRARIES.is_dir():
        lack(MAP_LIBRARIES)
    if chromium is None:
        lack(CHROMIUM)
    from playwright.sync_api import Request, Route, sync_playwright

    (tmp_path / "page.html").write_text(page(library, [*numbered([ROADS]), replace(hostile()[0], id=2)]), "utf-8")
    asked: list[str] = []
    errors: list[str] = []

    def answer(route: Route, request: Request) -> None:
        path = request.url.removeprefix("https://cdn.jsdelivr.net")
        if path in FILES:
            headers = {"Access-Control-Allow-Origin": "*"}
            route.fulfill(path=str(LIBRARIES / FILES[path]), headers=headers)
        elif request.url.startswith("file:"):
            route.continue_()
        else:
            asked.append(request.url)
            route.fulfill(status=404)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page()
        shown.on("pageerror", lambda error: errors.append(str(error)))
        shown.on("dialog", lambda dialog: errors.append(dialog.message))
        shown.route("**/*", answer)
        shown.goto((tmp_path / "page.html").as_uri(), timeout=300_000)
        shown.wait_for_function("document.querySelectorAll('#service option').length > 1", timeout=300_000)
        for _ in range(600):
            shown.wait_for_timeout(500)
            if asked:
                break
        options = shown.locator("#service option").all_text_contents()
        browser.close()
    assert errors == []
    assert len(options) == 2 and options[1] == f"wms: {hostile()[0].title}"
    assert asked and all("LAYERS=roads" in url or "layers=roads" in url for url in asked)
    assert all(url.startswith("http://maps.example/wms?map=a&token=***&") for url in asked)
