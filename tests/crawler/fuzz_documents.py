"""Documents for fuzzed webs: damaged recorded ones, and ones made hostile in the ways that once broke a visit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from geocrawl.lab.recorded_worlds.world import World
from tests.probe import fuzz
from tests.support.places import ROOT

_TEXT = re.compile(rb">[^<>]{1,200}<|\"[^\"]{1,200}\"")
Hostile = tuple[str, Callable[[random.Random, int], bytes]]
"""A name, and a function that makes a document of about so many bytes."""
ADDRESSES = (
    "http://\u0130.example/", "http://xn--a.example/", "http://xn--zzzzzz99999.example/", "http://a..example/",
    "http://\ufeff/",
    "http://\ud7ff\u200d.example/", "http://a.example:99999/", "http://a.example:\u0663/", "http://0x7f.1/",
    "http://[::ffff:1.2.3.4%25eth0]/",
    "http://a.example/%ED%A0%80%00%zz", "http://a.example/?a=%u0000&b=&#xD83D;", "//\u3002\uff0eexample/",
    "http://a.example/\u202e\ufffe",
    "http://" + "a" * 300 + ".example/", "http://a.example/" + "a/" * 2_000, "http://user:p%40@b.example/",
    "HTTP:\\\\c.example\\",
    "http://d.example/..%2f..%5c/;p=1?service=WMS&request=GetCapabilities&SERVICE=%ED%A0%80", "http://1.2.3.4.5/",
    "http://4294967296/",
    "http://e.example/wms?map=\u5730\u56fe&service=wms&version=" + "9" * 4_301, "data:text/html,<a href=/x>",
    "http:///x", "http://?",
)  # fmt: skip
"""What stands in links: names, ports, escapes and parameters at the edges of what an address may be."""


def _texts(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    """Replace texts between tags and in quotes by what no reader expects there; the markup stays whole."""

    def replaced(found: re.Match[bytes]) -> bytes:
        if rng.random() > 0.2:
            return found[0]
        return found[0][:1] + rng.choice(_VALUES) + found[0][-1:]

    return _TEXT.sub(replaced, body)


_VALUES = (
    b"&#xD83D;", b"&#55357;&#56832;", b"\\ud83d", b"\\ude00\\ud83d", b"&#" + b"1" * 5_000 + b";",
    b"&amp;#" + b"9" * 4_400 + b";",
    b"9" * 4_301, b"-" + b"9" * 4_301, b"1e400", b"\\u0000", b"&#0;", b"\x00", b"\xed\xa0\x80", b"%ED%A0%80",
    b"\xe2\x80\xae",
    *(address.encode("utf-8") for address in ADDRESSES),
)  # fmt: skip
MUTATIONS: tuple[fuzz.Mutation, ...] = (*fuzz.MUTATIONS, _texts, _texts)


def _html(inner: str) -> bytes:
    return f"<!DOCTYPE html><title>WMS map services</title><body>{inner}</body>".encode("utf-8", "surrogatepass")


def _long_title(rng: random.Random, size: int) -> bytes:
    return b"<title>" + rng.choice((b"map ", b"&#xD83D;", b"\xe5\x9c\xb0", b"a", b"<")) * (size // 4) + b"</title>"


def _many_links(rng: random.Random, size: int) -> bytes:
    host = rng.choice(("", "http://h{}.example"))
    return _html("".join(f"<a href='{host.format(n % 99)}/p/{n}.html'>map {n}</a>" for n in range(size // 50)))


def _many_services(_rng: random.Random, size: int) -> bytes:
    return _html(
        "".join(f"<a href='/ows/{n}?service=WMS&request=GetCapabilities'>wms {n}</a>" for n in range(size // 70))
    )


def _odd_addresses(rng: random.Random, size: int) -> bytes:
    found = rng.choices(ADDRESSES, k=max(size // 200, 10))
    links = "".join(
        f'<a href="{address}" title="{address}">{address} wms</a><form action="{address}"></form>' for address in found
    )
    return _html(links + "".join(f"<script>var wms = '{address}';</script>" for address in found[:20]))


def _script_surrogates(_rng: random.Random, _size: int) -> bytes:
    return _html(
        r"""<script>var url = "http://a.example/\ud83d/wms?request=GetCapabilities&service=WMS"; t = "\ud83d";</script>
        <script type="application/ld+json">{"@context": "http://schema.org", "@type": "Dataset", "name": "cut \ud83d",
        "distribution": {"contentUrl": "http://b.example/\udc00?service=WMS&request=GetCapabilities"}}</script>
        <!-- http://c.example/wms?service=WMS&amp;request=GetCapabilities&#"""
        + "9" * 5_000
        + ';--><div data-config="{&quot;url&quot;: &quot;/wms?&#xD83D;&quot;, &quot;n&quot;: '
        + "9" * 4_400
        + '}"></div><a href="/a">\ud83d</a>'
    )


def _deep_xml(rng: random.Random, size: int) -> bytes:
    name, depth = rng.choice(("Layer", "Capability", "a:b", "div", "gmd:CI_Contact")), rng.randint(250, 600)
    inner = f"<Title>{'x' * (size // depth // 2)}</Title>" if rng.random() < 0.5 else ""
    nested = f"<{name}>{inner}" * depth + f"</{name}>" * depth
    return f"<WMS_Capabilities version='1.3.0'>{nested}</WMS_Capabilities>".encode()


def _deep_json(rng: random.Random, _size: int) -> bytes:
    begin, end = rng.choice((("[", "]"), ('{"links":', "}"), ('{"children":[', "]}"), ('{"layers":[{"layers":', "}]}")))
    depth = rng.randint(250, 600)
    inner = begin * depth + "1" + end * depth
    return (
        f'{{"type": "Catalog", "stac_version": "1.0.0", "id": "a", "collections": {inner}, "links": {inner}}}'.encode()
    )


def _deep_linked_data(rng: random.Random, _size: int) -> bytes:
    depth = rng.randint(250, 600)
    member = rng.choice(("@graph", "hasPart", "@context", "distribution"))
    nested = f'{{"@type": "Dataset", "{member}": ' * depth + '"http://a.example/wms"' + "}" * depth
    return _html(f'<script type="application/ld+json">{{"@context": "http://schema.org", "@graph": {nested}}}</script>')


def _huge_numbers(rng: random.Random, _size: int) -> bytes:
    number = rng.choice(("9" * 4_301, "-" + "9" * 4_400, "1e999", "9" * 400, "0." + "9" * 5_000, "1E" + "9" * 4_301))
    return rng.choice(_WITH_NUMBERS).replace("@n", number).encode()


_WITH_NUMBERS = (
    '{"currentVersion": @n, "folders": [@n], "services": [{"name": @n, "type": "MapServer"}]}',
    '{"currentVersion": 10.1, "mapName": "a", "layers": [{"id": @n, "name": @n, "parentLayerId": @n}],'
    '"fullExtent": {"xmin": @n, "ymin": 0, "xmax": @n, "ymax": 1, "spatialReference": {"wkid": @n}}}',
    '{"tilejson": "2.0.0", "tiles": ["/{z}/{x}/{y}.png"], "bounds": [@n, @n, @n, @n], "minzoom": @n}',
    '{"success": true, "result": {"count": @n, "results": [{"title": @n, "resources": [{"url": @n}]}]}}',
    '{"summary": {"@count": "@n"}, "@from": "@n", "@to": "@n", "metadata": [{"link": ["a|b|@n|OGC:WMS|c|1"]}]}',
    '{"collections": [{"id": @n, "extent": {"spatial": {"bbox": [[@n, @n, @n, @n]]}}, "links": []}],'
    '"links": [{"rel": "next", "href": @n}], "numberMatched": @n}',
    '{"type": "FeatureCollection", "features": [], "totalResults": "@n", "itemsPerPage": @n, "startIndex": @n}',
)


def _records_with_numbers(rng: random.Random, _size: int) -> bytes:
    number = rng.choice(("9" * 4_301, "-1", "\u0663", "NaN", "1e400"))
    return (
        f"<csw:GetRecordsResponse xmlns:csw='http://www.opengis.net/cat/csw/2.0.2'><csw:SearchResults "
        f"numberOfRecordsMatched='{number}' numberOfRecordsReturned='{number}' nextRecord='{number}'>"
        f"<csw:Record><title>&#xD83D;{number}</title></csw:Record></csw:SearchResults></csw:GetRecordsResponse>"
    ).encode()


def _codec(rng: random.Random, size: int) -> bytes:
    name = rng.choice(("punycode", "idna", "utf-7", "rot13", "zlib", "unknown-8bit", "unicode_escape", "mbcs", "a\0b"))
    text = "a-\u00e9" * (size // 4)
    if rng.random() < 0.5:
        return f"<?xml version='1.0' encoding='{name}'?><WMS_Capabilities>{text}</WMS_Capabilities>".encode()
    return f"<meta charset='{name}'><title>map</title><p>{text}".encode()


def _zeros(rng: random.Random, size: int) -> bytes:
    return (
        rng.choice((b"", b"<html>", b"<?xml version='1.0'?>", b"{"))
        + b"\x00" * min(size, 200_000)
        + b"<a href='/\x00wms'>\x00</a>"
    )


def _feed(rng: random.Random, _size: int) -> bytes:
    date = rng.choice(("0000-00-00", "9" * 4_301, "99999-12-31T99:99:99Z", "Mon, 99 Feb 2020", "\u0663\u0663"))
    return (
        f"<rss><channel><title>&#xD83D;</title><item><title>map &#55357;&#56832;</title><link>http://a.example/&#xD83D;</link>"
        f"<pubDate>{date}</pubDate><georss:point>{'9' * 4_301} 1</georss:point></item></channel></rss>"
    ).encode()


def _sitemap(rng: random.Random, size: int) -> bytes:
    place = "".join(
        f"<url><loc>{rng.choice(ADDRESSES)}</loc><lastmod>{'9' * 30}</lastmod></url>" for _ in range(size // 2_000 + 5)
    )
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{place}</urlset>".encode("utf-8", "replace")


HOSTILE: tuple[Hostile, ...] = (
    ("long title", _long_title), ("many links", _many_links), ("many services", _many_services),
    ("odd addresses", _odd_addresses), ("surrogates in scripts", _script_surrogates), ("deep XML", _deep_xml),
    ("deep JSON", _deep_json), ("deep JSON-LD", _deep_linked_data), ("huge numbers", _huge_numbers),
    ("records with numbers", _records_with_numbers), ("codec", _codec), ("zeros", _zeros), ("feed", _feed),
    ("sitemap", _sitemap),
)  # fmt: skip


def documents(shared: Path, largest: int = 60_000, pages: int = 200) -> list[tuple[str, bytes]]:
    """Return recorded answers of services, and recorded pages, with their names."""
    found = fuzz.recorded(shared, largest)
    found += [(f"page/{file.name}", file.read_bytes()) for file in sorted((ROOT / "tests/page/recorded").glob("*.*"))]
    for folder in sorted(path.parent for path in (shared / "worlds").glob("*/world.json"))[:1]:
        world = World(folder)
        stored = [world.stored(key) for key, record in world.warc.records.items() if record.kind == "page"][:pages]
        found += [(f"html/{n}", each.body) for n, each in enumerate(stored) if each and 0 < len(each.body) <= largest]
    return found
