"""WARC files and their WAT files, made of pages as Common Crawl stores them: one gzip member a record.

Bodies are stored decoded, with the original fields renamed (`X-Crawler-content-encoding`). A WAT record is JSON as
ia-web-commons writes it: all numbers are strings, links are as the page writes them, texts end after 128 characters.
"""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lxml import html

NAME = "CC-MAIN-20261005000000-20261005030000-00000.warc.gz"
_DATE = "2026-10-05T01:58:10Z"
_TEXT_CHARS = 128
_LINKS = {"a": "href", "area": "href", "img": "src", "form": "action", "iframe": "src", "frame": "src"}


class MadePage(NamedTuple):
    """A page of an archive."""

    url: str
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200


def member(data: bytes) -> bytes:
    """Return a gzip member."""
    return gzip.compress(data, 6, mtime=0)


def record(kind: str, fields: Mapping[str, str], body: bytes) -> bytes:
    """Return a WARC record, not compressed."""
    head = {"WARC-Type": kind, "WARC-Date": _DATE, "WARC-Record-ID": f"<urn:uuid:{uuid.UUID(int=len(body))}>", **fields}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"WARC/1.0\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body + b"\r\n\r\n"


def wat_record(metadata: object, url: str) -> bytes:
    """Return a record of a WAT file with this JSON."""
    fields = {"WARC-Target-URI": url, "Content-Type": "application/json"}
    return record("metadata", fields, json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())


def metadata(
    url: str, links: Sequence[Mapping[str, str]], *, head: Mapping[str, Any] | None = None, offset: int = 0
) -> Any:
    """Return the metadata of an answer with these links."""
    envelope = {
        "Format": "WARC/1.0",
        "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": url, "WARC-Date": _DATE},
        "Payload-Metadata": {
            "Actual-Content-Type": "application/http; msgtype=response",
            "HTTP-Response-Metadata": {
                "Response-Message": {"Version": "HTTP/1.1", "Status": "200", "Reason": "OK"},
                "HTML-Metadata": {"Head": dict(head or {}), "Links": [dict(each) for each in links]},
            },
        },
    }
    place = {"Filename": NAME, "Compressed": True, "Offset": str(offset), "Gzip-Metadata": {"Deflate-Length": "4096"}}
    return {"Container": place, "Envelope": envelope}


def write_archive(folder: Path, pages: Iterable[MadePage]) -> tuple[Path, Path]:
    """Write pages into a WARC file and its WAT file; return both."""
    warc, wat = folder / NAME, folder / NAME.replace(".warc.gz", ".warc.wat.gz")
    with warc.open("wb") as answers, wat.open("wb") as about:
        for file in (answers, about):
            file.write(
                member(record("warcinfo", {"Content-Type": "application/warc-fields"}, b"publisher: nobody\r\n"))
            )
        for page in pages:
            offset = answers.tell()
            answers.write(member(_answer(page)))
            head, links = _links(page.body) if "html" in page.content_type else ({}, [])
            about.write(member(wat_record(metadata(page.url, links, head=head, offset=offset), page.url)))
    return warc, wat


def _answer(page: MadePage) -> bytes:
    http = f"HTTP/1.1 {page.status} OK\r\nContent-Type: {page.content_type}\r\nX-Crawler-content-encoding: gzip\r\n\r\n"
    fields = {"WARC-Target-URI": page.url, "Content-Type": "application/http; msgtype=response"}
    return record("response", fields, http.encode() + page.body)


@lru_cache(maxsize=1_000)
def _links(body: bytes) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return the head and the links of a page, as ia-web-commons names them."""
    tree = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    head: dict[str, Any] = {}
    links = []
    for element in tree.iter("base", *_LINKS):
        tag = str(element.tag)
        if tag == "base":
            head["Base"] = element.get("href") or ""
            continue
        href = element.get(_LINKS[tag])
        if href is None:
            continue
        link = {"path": f"{tag.upper()}@/{_LINKS[tag]}", "url": href}
        if text := " ".join("".join(map(str, element.itertext())).split())[:_TEXT_CHARS]:
            link["text"] = text
        links.append(link)
    return head, links
