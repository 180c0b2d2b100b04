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


Answer = tuple[str, str, list[tuple[str, str]], str]
"""Address, status line, headers and body of a recorded answer."""
HTML = [("Content-Type", "text/html; charset=utf-8")]


def write_world(folder: Path) -> Path:
    """Write the web into `folder` and return it."""
    services = [_service(*service[:3], service[4]) for service in SERVICES]
    truth = [
        [name, "wms", f"http://maps.small.example/{path}", valid, "href", depth or ""]
        for name, path, _, valid, _, depth in SERVICES
    ]
    return write_files(folder, f"{HOST}/", _answers(), services, truth)


def write_files(
    folder: Path, seed: str, answers: list[Answer], services: list[dict[str, Any]], truth: list[list[Any]]
) -> Path:
    """Write a web of these answers and services into `folder`, named like it, and return the folder."""
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "d.xml.gz").write_bytes(gzip.compress(CAPABILITIES))
    _write_warc(folder / "pages.warc.gz", answers)
    meta = {"name": folder.name, "seeds": [seed], "counts": {"records": len(answers)}}
    (folder / "world.json").write_text(json.dumps(meta), "utf-8")
    (folder / "services.jsonl").write_text("\n".join(map(json.dumps, services)) + "\n", "utf-8")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([["id", "kind", "base", "valid", "exposure_kinds", "min_depth"], *truth])
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


def _answers() -> list[Answer]:
    answers = [(HOST + at, "200 OK", HTML, f"<title>Page</title><body>{body}</body>") for at, body in PAGES.items()]
    answers.append((f"{HOST}/moved.html", "302 Found", [*HTML, ("Location", "/target.html")], ""))
    robots = "User-agent: *\nDisallow: /secret/\n"
    answers.append((f"{HOST}/robots.txt", "200 OK", [("Content-Type", "text/plain")], robots))
    return answers


def _write_warc(path: Path, answers: list[Answer]) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, status, headers, body in answers:
            http = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
            record = writer.create_warc_record(url, "response", payload=io.BytesIO(body.encode()), http_headers=http)
            writer.write_record(record)
