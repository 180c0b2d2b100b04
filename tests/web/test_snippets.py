"""The lines to copy: they keep their form on the page, and run as they were copied."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from lxml import etree, html
from starlette.testclient import TestClient

from geocrawl.demo import DemoWeb
from geocrawl.demo.kinds import OFFICES
from tests.web.conftest import served

HTML = {"Accept": "text/html"}
ITEMS = "/collections/services/items"


TITLES = {each.title for office in OFFICES for each in office.services}
"""Titles of services that have no layers: of those the title is printed."""


def copied(page: str) -> dict[str, str]:
    """Return what the copy buttons of a page copy, by the name of the lines."""
    found = html.document_fromstring(page).iter("pre")
    return {str(each.get("id")): "".join(map(str, each.itertext())) for each in found}


def numbers(client: TestClient) -> list[int]:
    """Return the numbers of all services."""
    return [int(each["id"]) for each in client.get(ITEMS, params={"limit": 100}).json()["features"]]


def test_owslib_reads_every_service_by_the_lines_of_its_page(
    client: TestClient, demo_web: DemoWeb, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HTTP_PROXY", demo_web.proxy_url)
    run = 0
    for number in numbers(client):
        code = copied(client.get(f"{ITEMS}/{number}", headers=HTML).text).get("use-owslib")
        # A visitor does not see the key of an address; a server of the demo knows capital letters alone.
        if code and "***" not in code and "dams.qgs" not in code:
            exec(compile(code, f"service {number}", "exec"), {})  # what a visitor would run
            said = capsys.readouterr().out.strip()
            assert said.startswith("[") or said in TITLES, "its layers are listed"
            run += 1
    assert run > 20


def test_owslib_reads_the_catalogue_by_the_lines_of_the_api_page(
    crawled: Path, demo_web: DemoWeb, client: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    code = copied(client.get("/api", headers=HTML).text)["api-owslib"]
    with served(crawled, demo_web) as address:
        exec(code.replace("http://localhost", address).replace("land cover", "water"), {})
    assert "http" in capsys.readouterr().out


def test_all_lines_of_python_can_be_read_and_those_of_scripts_stay_apart(client: TestClient) -> None:
    for number in numbers(client):
        lines = copied(client.get(f"{ITEMS}/{number}", headers=HTML).text)
        for name in lines.keys() & {"use-owslib", "use-pyqgis"}:
            ast.parse(lines[name])
        openlayers = lines.get("use-openlayers")
        assert openlayers is None or all(
            line.count("import ") <= 1 and not line.startswith(" ")
            for line in openlayers.split("\n")
            if "import" in line
        )
        assert openlayers is None or len(openlayers.split("\n")) > 4


def test_the_layer_that_is_chosen_is_the_one_of_all_lines(client: TestClient) -> None:
    number = next(
        int(each["id"]) for each in client.get(ITEMS, params={"q": '"青山省水系地图服务"'}).json()["features"]
    )
    part = client.get(f"{ITEMS}/{number}/layers", params={"layers": "湖泊"}, headers=HTML).text
    [position] = re.findall(rf"{ITEMS}/{number}\?layer=(\d+)#use-title", part)
    first = copied(client.get(f"{ITEMS}/{number}", headers=HTML).text)
    chosen = copied(client.get(f"{ITEMS}/{number}", params={"layer": position}, headers=HTML).text)
    named = copied(client.get(f"{ITEMS}/{number}", params={"layers": "湖泊"}, headers=HTML).text)
    assert chosen == named and next(iter(first)) == "use-qgis" and first["use-qgis"] == chosen["use-qgis"]
    for name in ("use-pyqgis", "use-openlayers", "use-leaflet"):
        assert first[name] != chosen[name], name
    answer = client.get(f"{ITEMS}/{number}/layer.qlr", params={"layer": position})
    layer = etree.fromstring(answer.content).find("maplayers/maplayer")
    assert layer is not None and layer.get("type") == "raster" and layer.findtext("layername") == "湖泊"
    assert (
        f'"{layer.findtext("datasource")}"' in chosen["use-pyqgis"] and ".qlr" in answer.headers["content-disposition"]
    )
