"""Documents whose text is made to break readers and writers: surrogates, endless numbers, odd codecs, deep nesting."""

from __future__ import annotations

import json

HIGH, LOW = "\\ud83d", "\\ude00"
_WMS = """<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name><Title>{0}</Title>
</Service><Capability><Request><GetMap/></Request><Layer><Title>{0}</Title><Name>{0}</Name></Layer></Capability>
</WMS_Capabilities>"""
_RSS = """<rss><channel><title>{0}</title><item><title>{0}</title><link>http://a.example/x?{0}</link></item>
</channel></rss>"""
_ISO = """<MD_Metadata xmlns:gco="g"><title><gco:CharacterString>{0}</gco:CharacterString></title><CI_OnlineResource>
<linkage><URL>http://a.example/wms?{0}</URL></linkage><name><gco:CharacterString>{0}</gco:CharacterString></name>
</CI_OnlineResource></MD_Metadata>"""
_OGC_API = """{{"title": "{0}", "description": "{0}", "links": [{{"rel": "data", "href": "/collections?{0}",
"title": "{0}"}}, {{"rel": "conformance", "href": "/conformance"}}], "{0}": 1}}"""
_ARCGIS = """{{"currentVersion": 11.1, "mapName": "{0}", "serviceDescription": "{0}", "layers": [{{"id": {1},
"name": "{0}"}}], "spatialReference": {{"wkid": {1}}}, "tileInfo": {{"rows": {1}}}}}"""
_GEONETWORK = """{{"@from": 1, "@to": {1}, "summary": {{"@count": {1}}}, "metadata": [{{"title": "{0}",
"link": "{0}|{0}|http://a.example/wms|OGC:WMS|x|1"}}]}}"""
_SCRIPT = """<title>t</title><script>var layer = {{title: "{0}", url: "http://a.example/geoserver/wms?{0}", id: {1}}};
</script><p><a href="http://a.example/geoserver/wms">{0}</a>"""
_COMMENT = (
    """<title>{0}</title><!-- wms {0} http://a.example/geoserver/wms?{0} --><div data-url="http://a.example/wms{0}">"""
)
_MARKUP = {"wms": _WMS, "rss": _RSS, "iso": _ISO}
_OBJECTS = {"ogcapi": _OGC_API, "arcgis": _ARCGIS, "geonetwork": _GEONETWORK}

REFERENCES = {
    "surrogate reference": "&#xD83D;",
    "surrogate pair in references": "&#55357;&#56832;",
    "low surrogate reference": "&#xDE00;",
    "padded surrogate reference": "&#0000055357;",
    "reference of 5,000 digits": f"&#{'9' * 5000};",
    "reference of 5,000 zeros": f"&#{'0' * 5000}65;",
    "hexadecimal reference of 5,000 digits": f"&#x{'f' * 5000};",
    "reference past Unicode": "&#x110000;",
    "reference to no character": "&#xFFFE;",
    "reference to NUL": "&#0;",
}
ESCAPES = {
    "lone high surrogate": HIGH,
    "lone low surrogate": LOW,
    "surrogates the wrong way round": LOW + HIGH,
    "surrogate cut by text": HIGH + "x",
    "escaped NUL": "\\u0000",
    "reference in JSON": f"&#{'9' * 5000};",
    "braced surrogate": "\\u{d83d}",
}


def documents() -> list[tuple[str, str, bytes]]:
    """Return name, Content-Type and body of each document."""
    found = []
    for what, text in REFERENCES.items():
        found += [(f"{what} in {form}", "text/xml", body.format(text).encode()) for form, body in _MARKUP.items()]
        found.append((f"{what} in a comment", "text/html", _COMMENT.format(text).encode()))
    for what, text in ESCAPES.items():
        found += [
            (f"{what} in {form}", "application/json", body.format(text, 1).encode()) for form, body in _OBJECTS.items()
        ]
        found.append((f"{what} in a script", "text/html", _SCRIPT.format(text, 1).encode()))
    for digits in (400, 4_300, 4_301, 100_000):
        found += [
            (f"{digits} digits in {form}", "application/json", body.format("x", "9" * digits).encode())
            for form, body in _OBJECTS.items()
        ]
        crs = _WMS.format("x").replace(
            "<Layer>",
            f"<Layer><SRS>EPSG:{'9' * digits}</SRS>"
            f'<BoundingBox SRS="EPSG:{"9" * digits}" minx="1" miny="1" maxx="2" maxy="2"/>',
        )
        found.append((f"{digits} digits in an SRS", "text/xml", crs.encode()))
    for depth in (90, 300, 480, 520, 600, 900, 5_000):
        found += _nested(depth)
    raw = _WMS.format("caf\ufffd").encode().replace(b"\xef\xbf\xbd", b"\xed\xa0\xbd")
    found.append(("surrogate in UTF-8 bytes", "text/xml", raw))
    for codec in CODECS:
        declared = f'<?xml version="1.0" encoding="{codec}"?>'.encode()
        found.append((f"codec {codec}", "text/xml", declared + _WMS.format("\\ud83d &#xD83D; é +2D0-").encode()))
        found.append(
            (f"codec {codec} of the header", f"application/json; charset={codec}", b'{"title": "\xe9 \\\\ud83d +2D0-"}')
        )
    return found


CODECS = (
    "punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined", "zip", "zlib", "bz2", "hex", "base64",
    "rot13", "uu", "quopri", "utf-7", "mbcs", "palmos", "charmap", "utf-8\x00", "utf_8_sig", "x" * 40,
)  # fmt: skip


def _nested(depth: int) -> list[tuple[str, str, bytes]]:
    value = '{"@type": "Dataset", "hasPart": ' * depth + "1" + "}" * depth
    linked = f'{{"@context": "http://schema.org/", "@graph": [{value}]}}'
    texts = json.dumps({"type": "Catalog", "links": []})[:-1] + ', "title": ' + "[" * depth + "1" + "]" * depth + "}"
    return [
        (f"JSON-LD nested {depth} deep", "application/ld+json", linked.encode()),
        (f"title nested {depth} deep", "application/json", texts.encode()),
        (f"lists nested {depth} deep", "application/json", b"[" * depth + b"]" * depth),
        (f"context nested {depth} deep", "application/ld+json", b'{"@context": ' * depth + b"1" + b"}" * depth),
        (f"elements nested {depth} deep", "text/xml", b"<a>" * depth + b"http://a.example/wms" + b"</a>" * depth),
    ]
