"""Documents that take long to read for their length, made for the purpose, of about any length."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

from geocrawl.model import Page
from geocrawl.urls import read_url

_WMS = (
    '<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name><Title>t</Title>'
    "</Service><Capability><Layer>{}</Layer></Capability></WMS_Capabilities>"
)
_WMTS = (
    '<Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1">'
    "<Contents>{}</Contents></Capabilities>"
)
_DCAT = "@prefix dcat: <http://www.w3.org/ns/dcat#> .\n"


@dataclass(frozen=True, slots=True)
class Hostile:
    """A sort of document."""

    name: str
    content_type: str
    around: str
    """With {} where the parts go."""
    part: Callable[[int], str]
    """Makes the part of a number."""

    def body(self, size: int) -> bytes:
        """Return a document of about `size` bytes."""
        parts, length, number = [], 0, 0
        while length < size:
            parts.append(self.part(number))
            length += len(parts[-1])
            number += 1
        return self.around.replace("{}", "".join(parts), 1).encode()

    def page(self, size: int) -> Page:
        """Return the answer that such a document is."""
        return page(self.body(size), self.content_type)


def page(body: bytes, content_type: str) -> Page:
    """Return an answer with this body."""
    url = read_url("http://recorded.example/a/b")
    assert url is not None, "a well-formed address"
    return Page(url, url, 200, {"content-type": content_type}, body, 1.0, 0.0)


def flat_image(side: int) -> bytes:
    """Return a PNG of one colour: four million pixels are 15 KB."""
    from PIL import Image

    written = io.BytesIO()
    Image.new("L", (side, side), 3).save(written, "PNG")
    return written.getvalue()


PAGES = (
    Hostile("<< in a script", "text/html", "<html><script>wms='{}'</script>", lambda n: "<" * 500),
    Hostile("links", "text/html", "<html>{}", lambda n: f"<a href={n}>w"),
    Hostile("links to services", "text/html", "<html>{}", lambda n: f"<a href=http://h{n}.example/wms?>wms</a>"),
    Hostile("scripts", "text/html", "<html>{}", lambda n: f"<script>a='http://a{n}.example/wms?';</script>"),
    Hostile("forms", "text/html", "<html>{}", lambda n: f"<form action=/wms{n}><input name=request></form>"),
    Hostile("nested fonts", "text/html", "<html>{}", lambda n: "<font><p>"),
    Hostile("nested tables", "text/html", "<html><table>{}", lambda n: "<td><table>"),
    Hostile("Chinese anchors", "text/html", "<html>{}", lambda n: f"<a href={n}>地图服务网络信息系统地理空间数据</a>"),
    Hostile("deep XML", "text/xml", "<?xml version='1.0'?><r>{}</r>", lambda n: "<a>" * 250 + "wms" + "</a>" * 250),
    Hostile("attributes", "text/xml", "<r>{}</r>", lambda n: '<a href="http://x.example/wms" b="c"/>'),
    Hostile("metadata", "text/xml", "<gmd:MD_Metadata xmlns:gmd='http://www.isotc211.org/2005/gmd'>{}"
            "</gmd:MD_Metadata>", lambda n: f"<gmd:URL>http://x{n}.example/wms</gmd:URL>"),
    Hostile("a Turtle list", "text/turtle", _DCAT + "<a> <b> ({}) .", lambda n: "1 "),
    Hostile("Turtle data sets", "text/turtle", _DCAT + "{}", lambda n: f"<a{n}> dcat:accessURL <http://a/{n}/wms> .\n"),
    Hostile("chained prefixes", "application/ld+json", '{"@context":{{}"z":"a"},"@id":"p0:x"}',
            lambda n: f'"p{n}":"p{n + 1}:a",'),
    Hostile("ArcGIS services", "application/json", '{"currentVersion":10,"folders":[],"services":[{}{}]}',
            lambda n: f'{{"name":"s{n}","type":"MapServer"}},'),
    Hostile("addresses in JSON", "application/json", "[{}1]", lambda n: f'"http://a{n}.example/wms?",'),
    Hostile("STAC children", "application/json", '{"type":"Catalog","stac_version":"1.0.0","id":"a","links":[{}{}]}',
            lambda n: f'{{"href":"a{n}","rel":"child"}},'),
)  # fmt: skip
SERVICES = (
    Hostile("empty layers", "text/xml", _WMS, lambda n: "<Layer/>"),
    Hostile("nested layers", "text/xml", _WMS, lambda n: "<Layer><Name>a</Name>" * 200 + "</Layer>" * 200),
    Hostile("systems", "text/xml", _WMS, lambda n: f"<CRS>EPSG:{n}</CRS>"),
    Hostile("tile layers", "text/xml", _WMTS, lambda n: f"<Layer><ows:Identifier>{n}</ows:Identifier></Layer>"),
)
