"""Recognise folders of files that a web server lists (web-accessible folders of metadata records), as Apache, nginx,
IIS, lighttpd, Caddy, Tomcat, Jetty and Python do, and read their records and folders as pages of a catalogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.urls import RECORDS, read_url

_TITLE = re.compile(r"index of\b|directory(?: listing)?\b|(?:\S+ - )?/", re.I)
_UP = re.compile(r"\[?(?:to )?parent directory\]?|\.\./?|up to higher level directory", re.I)
_METADATA = re.compile(r"metadata|waf|iso-?19|records|csw|inspire", re.I)


def read_folder(title: str, links: Sequence[RawLink], url: Url) -> list[RawLink]:
    """Return a folder's links with those to its XML files and folders as pages of records; any other page's as they
    are.

    They count where the folder has records of its own or is named after metadata: other trees (tiles, scenes) have no
    end.
    """
    place = url.address.partition("?")[0]
    has_way_up = any(_UP.fullmatch(each.anchor.strip()) for each in links)
    names_place = title.strip().rstrip("]").endswith(unquote(urlsplit(place).path))
    if not (has_way_up or names_place) or not place.endswith("/") or not _TITLE.match(title.strip()):
        return [*links]
    inside = [(number, found) for number, each in enumerate(links) if (found := _inside(each, url, place))]
    has_records = any(found.endswith(".xml") for _, found in inside) or _METADATA.search(place) is not None
    marked = [*links]
    for number, _ in inside if has_records else ():
        marked[number] = links[number]._replace(where=RECORDS)
    return marked


def _inside(each: RawLink, url: Url, place: str) -> str:
    """Return the part of a link's address beneath the folder when it is one file or folder there; '' for all others."""
    target = read_url(each.href, url)
    if target is None or not target.address.startswith(place):
        return ""
    name = target.address[len(place) :]
    is_one = name.lower().endswith(".xml") and "/" not in name
    return name.lower() if is_one or (name.endswith("/") and name.count("/") == 1) else ""
