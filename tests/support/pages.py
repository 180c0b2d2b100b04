"""Answers written by hand for the tests of this room."""

from __future__ import annotations

from geocrawl.model import Document, Page, Url
from geocrawl.page.document import PageReader
from geocrawl.urls import read_url


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None
    return found


def page(
    body: str | bytes, content_type: str = "text/html", address: str = "http://h.example/d/p", **fields: str
) -> Page:
    """An answer at `address`; `fields` are header fields, `_` for `-`."""
    headers = {"content-type": content_type} | {name.replace("_", "-"): value for name, value in fields.items()}
    data = body.encode() if isinstance(body, str) else body
    return Page(url(address), url(address), 200, headers, data, 1.0, 0.0)


def read(
    body: str | bytes, content_type: str = "text/html", address: str = "http://h.example/d/p", **fields: str
) -> Document:
    return PageReader().read(page(body, content_type, address, **fields), depth=1)


def hrefs(document: Document) -> list[str]:
    return [link.url.address for link in document.links]
