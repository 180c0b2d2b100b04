"""A recorded web of a handful of pages, written as the format has it."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HOST = "http://www.small.example"
CAPABILITIES = b"""<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms">
<Service><Name>WMS</Name><Title>Rivers</Title><OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink"
xlink:href="http://maps.small.example/wms"/></Service>
<Capability><Request><GetMap><Format>image/png</Format></GetMap></Request>
<Layer><Title>All</Title><CRS>EPSG:4326</CRS><Layer><Name>rivers</Name><Title>Rivers</Title></Layer></Layer>
</Capability></WMS_Capabilities>
"""
PAGES = {
    "/": '<a href="/maps.html">Web Map Service</a> <a href="/news.html">News</a> <a href="/secret/a.html">x</a>',
    "/maps.html": '<a href="http://maps.small.example/wms?service=WMS&amp;request=GetCapabilities">Capabilities</a>',
    "/news.html": '<a href="/old.html">Older</a> <a href="/moved.html">Moved</a>',
    "/old.html": '<a href="http://maps.small.example/gone?service=WMS&amp;request=GetCapabilities">WMS</a>',
    "/target.html": '<a href="http://maps.small.example/slow?service=WMS&amp;request=GetCapabilities">WMS</a>',
    "/secret/a.html": '<a href="http://maps.small.example/secret?service=WMS&amp;request=GetCapabilities">WMS</a>',
}
SERVICES = (
    ("wms-1", "wms", "valid", 1, ["/maps.html"], 2),
    ("wms-2", "gone", "notfound", 0, ["/old.html"], 3),
    ("wms-3", "slow", "slow", 0, ["/target.html"], 3),
    ("wms-4", "secret", "valid", 1, ["/secret/a.html"], None),
)


def write_world(folder: Path) -> Path:
    """Write the web into `folder` and return it."""
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "d.xml.gz").write_bytes(gzip.compress(CAPABILITIES))
    records = _write_warc(folder / "pages.warc.gz")
    meta = {"name": "small", "seeds": [f"{HOST}/"], "counts": {"records": records}}
    (folder / "world.json").write_text(json.dumps(meta), "utf-8")
    lines = [json.dumps(_service(*service[:3], service[4])) for service in SERVICES]
    (folder / "services.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "kind", "base", "valid", "exposure_kinds", "min_depth"])
    for name, path, _, valid, _, depth in SERVICES:
        writer.writerow([name, "wms", f"http://maps.small.example/{path}", valid, "href", depth or ""])
    (folder / "truth.csv").write_text(text.getvalue(), "utf-8")
    return folder


def _service(name: str, path: str, behaviour: str, pages: list[str]) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "wms",
        "base": f"http://maps.small.example/{path}",
        "behaviour": behaviour,
        "document": "d.xml.gz",
        "requires": {},
        "exposures": [{"page": HOST + page, "how": "href-getcapabilities"} for page in pages],
    }


def _write_warc(path: Path) -> int:
    html = [("Content-Type", "text/html; charset=utf-8")]
    answers = [(HOST + at, "200 OK", html, f"<title>Page</title><body>{body}</body>") for at, body in PAGES.items()]
    answers.append((f"{HOST}/moved.html", "302 Found", [*html, ("Location", "/target.html")], ""))
    robots = "User-agent: *\nDisallow: /secret/\n"
    answers.append((f"{HOST}/robots.txt", "200 OK", [("Content-Type", "text/plain")], robots))
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, status, headers, body in answers:
            http = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
            record = writer.create_warc_record(url, "response", payload=io.BytesIO(body.encode()), http_headers=http)
            writer.write_record(record)
    return len(answers)
