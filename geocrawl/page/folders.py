"""Recognise folders of files that a web server lists (web-accessible folders of metadata records), as Apache, nginx,
IIS, lighttpd, Caddy, Tomcat, Jetty and Python do, or an object store, and read their records and folders as pages of a
catalogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from urllib.parse import quote, unquote, urlencode, urlsplit

from lxml import etree

from geocrawl.formats.xml import child, first_text, local_name
from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.urls import RECORDS, query_parameters, read_url

_TITLE = re.compile(r"index of\b|directory(?: listing)?\b|(?:\S+ - )?/", re.I)
_UP = re.compile(r"\[?(?:to )?parent directory\]?|\.\./?|up to higher level directory", re.I)
_RECORD = re.compile(r"(?<!\.aux)\.xml\Z", re.I)
"""Matches a file that may be a record, unlike the statistics of a raster (`.aux.xml`)."""
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
    has_records = any(_RECORD.search(found) for _, found in inside) or _METADATA.search(place) is not None
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
    is_one = _RECORD.search(name) is not None and "/" not in name
    return name.lower() if is_one or (name.endswith("/") and name.count("/") == 1) else ""


# --------------------------------------------------------------------------- object stores


BUCKETS = frozenset({"listbucketresult", "enumerationresults"})
"""Roots of the lists of an object store's files: Amazon S3 and its kin, Azure Blob Storage."""
_query = partial(urlencode, quote_via=quote)
_POSITIONS = frozenset({"prefix", "marker", "start-after", "continuation-token"})


def read_bucket(root: etree._Element, url: Url) -> list[RawLink]:
    """Return a bucket's XML files and folders as pages of records, then its next page (Amazon S3 API, ListObjects and
    ListObjectsV2; Azure, List Blobs).

    As in `read_folder` they count where the page has records or is named after metadata: [] for any other.
    """
    place, _, query = url.address.partition("?")
    files = [key for key in _texts(root, "Contents/Key", "Blob/Name") if _RECORD.search(key)]
    if not files and not _METADATA.search(f"{place}?{query}"):
        return []
    base, own = place.rstrip("/") + "/", {name.lower(): value for name, value in query_parameters(url)}
    kept = {name: value for name, value in own.items() if name not in _POSITIONS}
    asked = [{"prefix": name} for name in _texts(root, "CommonPrefixes/Prefix", "BlobPrefix/Name")]
    pages = [f"{place}?{_query({**kept, **changes})}" for changes in asked]
    links = [RawLink(address, RECORDS) for address in (*(base + quote(key) for key in files), *pages)]
    if following := _next_of_bucket(root):
        prefix = {"prefix": own["prefix"]} if own.get("prefix") else {}
        links.append(RawLink(f"{place}?{_query({**kept, **prefix, **following})}", RECORDS, rel="next"))
    return links


def is_left(root: etree._Element, links: Sequence[RawLink]) -> bool:
    """Return whether a bucket states more files than this page has, and its links lead to none of them."""
    is_bucket = local_name(root).lower() in BUCKETS
    return is_bucket and bool(_next_of_bucket(root)) and not any(each.rel == "next" for each in links)


def _next_of_bucket(root: etree._Element) -> dict[str, str]:
    """Return the parameters of the page after one of a bucket; {} after the last one."""
    token, marker = first_text(child(root, "NextContinuationToken"), 2_000), _texts(root, "NextMarker")
    if token:
        return {"list-type": "2", "continuation-token": token}
    if first_text(child(root, "IsTruncated")).lower() == "true":  # without folders the last file is the marker
        marker = marker or _texts(root, "Contents/Key")
    return {"marker": marker[-1]} if marker else {}


def _texts(root: etree._Element, *paths: str) -> list[str]:
    """Return the texts of all elements at these places beneath a root, whatever their namespace."""
    found = (each for path in paths for each in root.iterfind(".//{*}" + path.replace("/", "/{*}")))
    return [text for each in found if (text := (each.text or "").strip())]
