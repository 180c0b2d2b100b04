"""Recorded documents for the tests of this room."""

from __future__ import annotations

from pathlib import Path

from geocrawl.model import Document, Link
from geocrawl.urls import RECORDS
from tests.support.pages import read

RECORDED = Path(__file__).parent / "recorded"


def recorded(name: str, address: str, content_type: str = "") -> Document:
    """One of `recorded/`, read as the answer of this address."""
    return read((RECORDED / name).read_bytes(), content_type, address)


def kinds(document: Document) -> set[tuple[str, str]]:
    """(kind, address) of links that the document names a kind for."""
    return {(link.kind, link.url.address) for link in document.links if link.kind}


def following(document: Document) -> list[str]:
    """Addresses of the pages of records that a document leads to."""
    return [link.url.address for link in document.links if link.where == RECORDS]


def named(document: Document, part: str) -> Link:
    """The first link whose address holds this text."""
    return next(link for link in document.links if part in link.url.address)
