"""Previews: pictures come, politely; and the server cannot be used to ask for anything else."""

from __future__ import annotations

import asyncio
import io
import sqlite3
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image
from starlette.testclient import TestClient

from geocrawl.demo import DemoWeb
from geocrawl.probe.extents import to_mercator
from geocrawl.settings import Settings, SiteSettings
from geocrawl.web.answers import Problem, Workers
from geocrawl.web.preview import MOST_WAITING_OF_HOST, Previews
from geocrawl.web.preview_exchanges import Relay, picture
from tests.support.crawls import url
from tests.web.conftest import Serve

ITEMS = "/collections/services/items"
BOX = "108,24,115,31"


@pytest.fixture(scope="module")
def shown(crawled: Path) -> tuple[int, int]:
    """The number of a WMS that draws maps, and the position of one of its layers."""
    reader = sqlite3.connect(crawled)
    found: tuple[int, int] = reader.execute(
        "SELECT s.id, l.position FROM service s JOIN layer l ON l.service_id = s.id "
        "JOIN endpoint e ON e.id = s.best_id "
        "WHERE s.kind = 'wms' AND e.level = 'delivers' AND l.name <> '' ORDER BY s.id LIMIT 1"
    ).fetchone()
    reader.close()
    return found


def test_a_layer_is_drawn_by_its_service(client: TestClient, demo_web: DemoWeb, shown: tuple[int, int]) -> None:
    number, layer = shown
    before = len(demo_web.requests)
    answer = client.get(f"{ITEMS}/{number}/preview", params={"layer": layer, "bbox": BOX, "width": 300, "height": 200})
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/png", answer.text[:300]
    assert Image.open(io.BytesIO(answer.content)).size == (300, 200)
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["content-disposition"] == "inline"
    assert "access-control-allow-origin" not in answer.headers, "pages elsewhere read none of it"
    asked = [each for each in demo_web.requests[before:] if each.kind == "service"]
    assert len(asked) == 1 and "geocrawl/" in asked[0].user_agent
    query = {name.lower(): values[0] for name, values in parse_qs(urlsplit(asked[0].url).query).items()}
    assert query["request"] == "GetMap" and query["width"] == "300"
    again = client.get(f"{ITEMS}/{number}/preview", params={"layer": layer, "bbox": BOX, "width": 300, "height": 200})
    assert again.content == answer.content
    assert len([each for each in demo_web.requests[before:] if each.kind == "service"]) == 1, "it is kept"


def test_its_legend_is_drawn_by_its_service(client: TestClient, demo_web: DemoWeb, shown: tuple[int, int]) -> None:
    number, layer = shown
    before = len(demo_web.requests)
    answer = client.get(f"{ITEMS}/{number}/legend", params={"layer": layer})
    assert answer.status_code == 200 and Image.open(io.BytesIO(answer.content)).size == (120, 20)
    (asked,) = (each for each in demo_web.requests[before:] if each.kind == "service")
    query = {name.lower(): values[0] for name, values in parse_qs(urlsplit(asked.url).query).items()}
    assert query["request"] == "GetLegendGraphic" and query["layer"]
    for wrong in ("", "-1", "9999999", "0&REQUEST=GetMap"):
        assert client.get(f"{ITEMS}/{number}/legend", params={"layer": wrong}).status_code in (400, 404), wrong
    page = client.get(f"{ITEMS}/{number}", headers={"Accept": "text/html"}).text
    assert f'data-legend="{ITEMS}/{number}/legend?layer={layer}"' in page and "preview-opacity" in page


def test_it_is_asked_what_is_at_a_point(client: TestClient, demo_web: DemoWeb, shown: tuple[int, int]) -> None:
    number, layer = shown
    before = len(demo_web.requests)
    point: dict[str, str | int] = {"layer": layer, "bbox": BOX, "width": 300, "height": 200, "x": 30, "y": 150}
    answer = client.get(f"{ITEMS}/{number}/info", params=point)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff" and "Feature 1:" in answer.text
    (asked,) = (each for each in demo_web.requests[before:] if each.kind == "service")
    query = {name.lower(): values[0] for name, values in parse_qs(urlsplit(asked.url).query).items()}
    assert query["request"] == "GetFeatureInfo" and query["query_layers"] == query["layers"]
    assert {"30", "150"} <= set(query.values())
    attacks: list[dict[str, str | int]] = [{"x": 300}, {"y": "-1"}, {"x": "1&REQUEST=GetMap"}, {"info_format": "a/b"}]
    for wrong in attacks:
        assert client.get(f"{ITEMS}/{number}/info", params=point | wrong).status_code == 400, wrong
    page = client.get(f"{ITEMS}/{number}", headers={"Accept": "text/html"}).text
    assert f'data-info="{ITEMS}/{number}/info?layer={layer}"' in page


def relayed_pictures(client: TestClient, answer: Any) -> list[Image.Image]:
    """Return the pictures that a browser draws of a preview: the one that came, or tiles."""
    if answer.headers["content-type"] == "application/json":
        parts = [client.get(str(answer.url.join(each["href"]))) for each in answer.json()["tiles"]]
        assert parts
        return [drawn for part in parts for drawn in relayed_pictures(client, part)]
    is_picture = answer.headers["content-type"].startswith("image/")
    return [Image.open(io.BytesIO(answer.content)).convert("RGBA")] if is_picture else []


@pytest.mark.parametrize(
    ("kind", "media_type", "requests"),
    [
        ("wfs", "application/geo+json", ["GetFeature"]),
        ("ogcapi", "application/geo+json", ["/items"]),
        ("wmts", "application/json", ["GetTile"]),
        ("tms", "application/json", [".png"]),
        ("wmsc", "application/json", ["TILED=true", "GetMap"]),
        ("wcs", "application/json", ["DescribeCoverage", "GetCoverage"]),
        ("arcgis", "image/png", ["export", "show:"]),
    ],
)
def test_a_browser_is_given_what_it_draws_of_layers_of_other_kinds(
    client: TestClient, crawled: Path, demo_web: DemoWeb, kind: str, media_type: str, requests: list[str]
) -> None:
    reader = sqlite3.connect(crawled)
    number, layer, *sides = reader.execute(
        "SELECT s.id, l.position, s.west, s.south, s.east, s.north FROM service s JOIN endpoint e ON e.id = s.best_id "
        "JOIN layer l ON l.service_id = s.id AND l.name <> '' WHERE s.kind = ? AND e.status = 'valid' "
        "ORDER BY s.id, l.position",
        (kind,),
    ).fetchone()
    reader.close()
    page = client.get(f"{ITEMS}/{number}", headers={"Accept": "text/html"}).text
    assert f'data-preview="{ITEMS}/{number}/preview?layer={layer}"' in page
    sides = sides if sides[0] is not None else [-180.0, -85.0, 180.0, 85.0]
    box = to_mercator(tuple(sides)) if 'projection="EPSG:3857"' in page else sides
    before = len(demo_web.requests)
    asked = {"layer": layer, "bbox": ",".join(map(str, box)), "width": 256, "height": 256}
    answer = client.get(f"{ITEMS}/{number}/preview", params=asked)
    assert (answer.status_code, answer.headers["content-type"]) == (200, media_type), answer.text
    if media_type == "application/geo+json":
        assert answer.json()["geometry"]["geometries"]
    for drawn in relayed_pictures(client, answer):
        assert len(drawn.getcolors(70_000) or ()) > 1, "something is on it"
    made = [each.url for each in demo_web.requests[before:] if each.kind == "service"]
    assert len(made) <= 6 and all(any(part in each for each in made) for part in requests), made


def test_the_base_map_is_of_the_operators_choice(serve: Serve, crawled: Path) -> None:
    page = serve(crawled).get("/", headers={"Accept": "text/html"})
    assert "data-base-map" not in page.text and "Natural Earth" in page.text
    assert "img-src 'self' data: blob:;" in page.headers["content-security-policy"]
    chosen = "https://tiles.example.org/{z}/{x}/{y}.png"
    page = serve(crawled, base_map=chosen, base_map_credit="© <b>Tilers").get("/", headers={"Accept": "text/html"})
    assert f'data-base-map="{chosen}"' in page.text and "© &lt;b&gt;Tilers" in page.text
    assert "img-src 'self' https://tiles.example.org data: blob:;" in page.headers["content-security-policy"]


ATTACKS = [
    {"url": "http://169.254.169.254/latest/meta-data/"},
    {"bbox": BOX, "url": "http://attacker.example/"},
    {"bbox": f"{BOX}&REQUEST=GetCapabilities"},
    {"bbox": f"{BOX}#@attacker.example/"},
    {"bbox": "http://attacker.example/"},
    {"bbox": "1,2,3,4\r\nHost: attacker.example"},
    {"bbox": "nan,0,1,1"},
    {"bbox": "inf,0,1,1"},
    {"bbox": "5,5,5,5"},
    {"bbox": "1e99,1,2,2"},
    {"bbox": BOX, "width": "99999"},
    {"bbox": BOX, "width": "64&LAYERS=secret"},
    {"bbox": BOX, "height": "-1"},
    {"bbox": BOX, "layer": "0;DROP TABLE"},
    {"bbox": BOX, "layer": "http://attacker.example/"},
    {"bbox": BOX, "layer": "9999999"},
    {"bbox": BOX, "crs": "EPSG:4326"},
    {"bbox": BOX, "tile": "0"},
    {"bbox": BOX, "tile": "0&LAYERS=secret"},
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_it_is_no_open_proxy(
    client: TestClient, demo_web: DemoWeb, shown: tuple[int, int], attack: dict[str, str]
) -> None:
    before = len(demo_web.requests)
    answer = client.get(f"{ITEMS}/{shown[0]}/preview", params={"layer": str(shown[1]), **attack})
    assert answer.status_code in (400, 404)
    assert demo_web.requests[before:] == [], "nothing is asked"


@pytest.mark.parametrize("path", ["http://attacker.example/", "//attacker.example/", "1%2F..%2F2", "..;/2", "9999999"])
def test_only_services_of_the_catalogue_are_asked(client: TestClient, demo_web: DemoWeb, path: str) -> None:
    before = len(demo_web.requests)
    answer = client.get(f"{ITEMS}/{path}/preview", params={"layer": "1", "bbox": BOX})
    assert answer.status_code in (400, 404)
    assert demo_web.requests[before:] == []


def test_previews_can_be_turned_off(serve: Serve, crawled: Path, shown: tuple[int, int]) -> None:
    client = serve(crawled, preview=False)
    answer = client.get(f"{ITEMS}/{shown[0]}/preview", params={"layer": shown[1], "bbox": BOX})
    assert answer.status_code == 404 and "no-preview" in answer.json()["detail"]
    assert "data-preview" not in client.get(f"{ITEMS}/{shown[0]}", headers={"Accept": "text/html"}).text


def test_a_private_address_in_the_catalogue_is_not_asked(
    serve: Serve, catalogue: Path, shown: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute(
        "UPDATE endpoint SET url = 'http://127.0.0.1:9/wms', host = '127.0.0.1' WHERE service_id = ?", (shown[0],)
    )
    writer.close()
    client = serve(catalogue)
    answer = client.get(f"{ITEMS}/{shown[0]}/preview", params={"layer": shown[1], "bbox": BOX})
    assert answer.status_code == 502 and "private network" in answer.json()["detail"]


def test_a_host_that_opted_out_is_not_asked(
    serve: Serve, catalogue: Path, demo_web: DemoWeb, shown: tuple[int, int]
) -> None:
    writer = sqlite3.connect(catalogue, isolation_level=None)
    host = writer.execute(
        "SELECT e.host FROM service s JOIN endpoint e ON e.id = s.best_id WHERE s.id = ?", (shown[0],)
    ).fetchone()[0]
    writer.execute("INSERT INTO blocked (host, reason, at) VALUES (?, 'asked', 0)", (host,))
    writer.close()
    before = len(demo_web.requests)
    answer = serve(catalogue).get(f"{ITEMS}/{shown[0]}/preview", params={"layer": shown[1], "bbox": BOX})
    assert answer.status_code == 502 and "owner of the host" in answer.json()["detail"]
    in_chinese: dict[str, str | int] = {"layer": shown[1], "bbox": BOX, "lang": "zh"}
    answer = serve(catalogue).get(f"{ITEMS}/{shown[0]}/preview", params=in_chinese)
    assert (answer.status_code, answer.json()["detail"]) == (502, "主机所有者要求不要请求")
    assert demo_web.requests[before:] == []


class _Handler(BaseHTTPRequestHandler):
    """A proxy in front of a web of three hosts: one redirects to another, one sends a page, one draws."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer for every host."""
        type(self).asked.append(self.path + (" with a password" if self.headers["Authorization"] else ""))
        host = urlsplit(self.path).hostname
        if self.path.endswith("/robots.txt"):
            self.send(404, "text/plain", b"")
        elif host == "redirecting.example":
            self.send(302, "text/plain", b"", location="http://other.example/secret")
        elif host == "page.example":
            self.send(200, "image/png", b"<html><script>alert(1)</script>secret page</html>")
        else:
            drawn = io.BytesIO()
            Image.new("RGB", (9000, 9000) if host == "huge.example" else (8, 8)).save(drawn, "PNG")
            self.send(200, "text/html", drawn.getvalue())

    def send(self, status: int, media_type: str, body: bytes, location: str = "") -> None:
        """Write an answer."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def hosts() -> Iterator[tuple[str, list[str]]]:
    """The address of a proxy to hosts that misbehave, and what it was asked."""
    _Handler.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", _Handler.asked
    server.shutdown()
    server.server_close()


async def relayed_by(proxy: str, catalogue: Path, address: str) -> Relay:
    previews = Previews(Settings(proxy=proxy, delay_s=0.0), catalogue, Workers(1, "test"))
    try:
        return await previews.relay(lambda: picture(url(address)))
    finally:
        await previews.close()


async def test_no_redirect_leads_to_another_host(hosts: tuple[str, list[str]], catalogue: Path) -> None:
    proxy, asked = hosts
    with pytest.raises(Problem) as raised:
        await relayed_by(proxy, catalogue, "http://redirecting.example/wms?REQUEST=GetMap")
    assert raised.value.status == 502
    assert asked and not [address for address in asked if "other.example" in address]


async def test_nothing_but_an_image_leaves_the_server(hosts: tuple[str, list[str]], catalogue: Path) -> None:
    proxy, _ = hosts
    relay = await relayed_by(proxy, catalogue, "http://good.example/wms")
    assert Image.open(io.BytesIO(relay.body)).size == (8, 8) and relay.media_type == "image/png", "not text/html"
    for host, said in (("page.example", "no image"), ("huge.example", "9000")):
        with pytest.raises(Problem, match=said) as raised:
            await relayed_by(proxy, catalogue, f"http://{host}/wms")
        assert raised.value.status == 502


async def test_no_password_of_the_crawl_is_lent_to_visitors(hosts: tuple[str, list[str]], catalogue: Path) -> None:
    proxy, asked = hosts
    sites = {"http://good.example": SiteSettings(user="u", password="p")}
    previews = Previews(Settings(proxy=proxy, delay_s=0.0, sites=sites), catalogue, Workers(1, "test"))
    await previews.relay(lambda: picture(url("http://good.example/wms")))
    await previews.close()
    assert asked and not [each for each in asked if "password" in each]


def test_no_key_is_lent_to_visitors(serve: Serve, catalogue: Path, demo_web: DemoWeb, shown: tuple[int, int]) -> None:
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute("UPDATE endpoint SET url = url || '?token=abc' WHERE service_id = ?", (shown[0],))
    writer.close()
    before = len(demo_web.requests)
    answer = serve(catalogue).get(f"{ITEMS}/{shown[0]}/preview", params={"layer": shown[1], "bbox": BOX})
    assert answer.status_code == 404
    assert demo_web.requests[before:] == []


async def test_few_wait_for_one_host(hosts: tuple[str, list[str]], catalogue: Path) -> None:
    proxy, asked = hosts
    previews = Previews(Settings(proxy=proxy, delay_s=0.3), catalogue, Workers(1, "test"))
    urls = [url(f"http://good.example/wms?n={number}") for number in range(12)]
    tasks = [previews.relay(partial(picture, each)) for each in urls]
    found = await asyncio.gather(*tasks, return_exceptions=True)
    await previews.close()
    drawn = [each for each in found if isinstance(each, Relay)]
    refused = [each for each in found if isinstance(each, Problem)]
    assert len(drawn) == MOST_WAITING_OF_HOST and {each.status for each in refused} == {503}
    assert len([address for address in asked if "/wms" in address]) == MOST_WAITING_OF_HOST
