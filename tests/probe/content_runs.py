"""Run content checks with made answers, and make images: a map, a blank one, a message that is drawn."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

from PIL import Image, ImageDraw
from shapely.geometry import box

from geocrawl.model import ContentOutcome, ContentReport, Failure, Kind, Layer, Page, Purpose, Service
from geocrawl.ports import Ask, ContentCheck
from geocrawl.urls import service_endpoint
from tests.support.answers import page, url
from tests.support.interviews import with_picture

API = "https://data.example.org/api"
SERVER = "http://gis.example.org/arcgis/rest/services"
BOUNDS = ("EPSG:25832", 400_000.0, 5_600_000.0, 500_000.0, 5_650_000.0)
MAP = Service(
    Kind.ARCGIS,
    "10.9",
    "Rivers",
    layers=(Layer("", "Rivers", box=box(7, 50, 9, 51), bounds=BOUNDS), Layer("0", "Big", parent=0)),
)
TILES = "http://tiles.example.org/tms/1.0.0"
TILE_MAP = """<?xml version="1.0"?><TileMap version="1.0.0" tilemapservice="{0}"><Title>Town</Title><SRS>EPSG:3857</SRS>
<BoundingBox minx="0" miny="0" maxx="100000" maxy="50000"/><Origin x="-20037508.34" y="-20037508.34"/>
<TileFormat width="256" height="256" mime-type="image/png" extension="png"/><TileSets profile="none">
<TileSet href="{0}/town/0" units-per-pixel="156543.033928" order="0"/>
<TileSet href="{0}/town/8" units-per-pixel="611.496226" order="8"/>
<TileSet href="{0}/town/9" units-per-pixel="305.748113" order="9"/>
<TileSet href="{0}/town/10" units-per-pixel="152.874057" order="10"/></TileSets></TileMap>"""
TMS = Service(Kind.TMS, "1.0.0", "Tiles", layers=(Layer("town", "Town", crs=("EPSG:3857",)),))


def run(
    check: ContentCheck, address: str, service: Service, reply: Callable[[Ask], Page | Failure]
) -> tuple[ContentReport, list[str]]:
    """The proof and the addresses that were asked for."""
    asked: list[str] = []
    content_interview = check.run(service_endpoint(check.kind, url(address)), service)
    try:
        ask = next(content_interview)
        while True:
            assert ask.purpose is Purpose.MAP
            asked.append(ask.url.address)
            found = reply(ask)
            found = replace(found, url=ask.url, final=ask.url) if isinstance(found, Page) else found
            ask = content_interview.send(with_picture(found))
    except StopIteration as end:
        proof: ContentReport = end.value
        return proof, asked


def outcomes(proof: ContentReport) -> list[ContentOutcome]:
    return [entry.outcome for entry in proof.attempts]


def drawn(width: int, height: int, *, blank: bool = False) -> Page:
    image = Image.new("RGBA", (width, height), (200, 200, 200, 255))
    if not blank:
        for x in range(width):
            image.paste((x % 256, 90, 120, 255), (x, 0, x + 1, height))
    return png(image)


def message(width: int, height: int) -> Page:
    """An error that is drawn into an image."""
    return png(_with_text(Image.new("RGB", (width, height), "white")))


def specks(width: int, height: int) -> Page:
    """A blank image but for a few single pixels, none next to another."""
    image = Image.new("RGB", (width, height), "white")
    for x in range(0, 60, 10):
        image.putpixel((x, 1 + x * 2 % 100), (255, 0, 0))
    return png(image)


def _with_text(image: Image.Image) -> Image.Image:
    ImageDraw.Draw(image).text((8, 8), "The layer is not available.\nPlease try again later.", "black")
    return image


def png(image: Image.Image) -> Page:
    """An image as an answer."""
    written = io.BytesIO()
    image.save(written, "PNG")
    return page(written.getvalue(), content_type="image/png")
