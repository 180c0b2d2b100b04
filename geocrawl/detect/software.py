"""Recognise the software of portals by an address or a page, and guess where it has its services and records.

`data/software.toml` has a table for each program: its signs, and what is asked beneath its root. One address of a
portal, whichever page it is, reveals all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from geocrawl.detect.addresses import Never, read_never
from geocrawl.model import GUESS, SIBLING, Candidate, Endpoint, Evidence, Kind, Link, Page, Url
from geocrawl.model.kinds import HostForm, PathForm
from geocrawl.urls import (
    RECORDS,
    arcgis_search_url,
    ckan_search_url,
    get_records_url,
    listing_url,
    read_url,
    service_endpoint,
)

_LONG_CHARS = 500
"""No portal has a longer path, and matching a pattern may take quadratic time."""
_PAGE_BYTES = 65_536
"""Signs stand in the head of a page, or soon after."""

_MOST_PLACES = 20
"""Most places of a path on a page that are looked at."""
_DELIMITER = re.compile(rb"[\"'()<>=,;\s]")
_ABOUT = re.compile(rb"\b(?:quick ?start|tutorials?|documentation|docs|manual|guide|overview|blog|wiki|releases?)\b")
"""Words in titles of texts about a program."""
_SIGN_WORD = re.compile(rb"[a-z]{4,}")
_BEFORE_ROOT = re.compile(rb"(?:[^<]|<[?!])*")
"""The declaration and the comments of an XML document."""

_Place = Callable[[str], Url | None]
_LISTS: Mapping[str, _Place] = {
    "page": read_url,
    "list": listing_url,
    "ckan": ckan_search_url,
    "arcgis-search": arcgis_search_url,
}
"""Lists of records that are read as pages, with what makes the address of each."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A form of address of one service, and the addresses of other kinds next to it."""

    path: re.Pattern[str]
    others: tuple[tuple[str, str], ...]
    """Kind, and what takes the place of the match, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Software:
    """A program that publishes maps or catalogues: its signs, and where its services are."""

    key: str
    name: str
    paths: tuple[PathForm, ...]
    hosts: tuple[HostForm, ...]
    page: tuple[bytes, ...]
    """Texts of its pages, in lower case."""
    root: str
    """What is the root of a portal that a page reveals: "host", "folder", "page" or "files"."""
    root_in: bytes
    """Text of a page behind which the address of the root stands, b"" for none; for the root "files"."""
    below: str
    """Path beneath the root at which a page may be, cut off its folder."""
    places: tuple[tuple[str, str], ...]
    """Kind of service or of list, and path beneath the root, the likeliest first."""
    beside: tuple[Neighbours, ...]


@dataclass(frozen=True, slots=True)
class Portal:
    """A portal that an address or a page belongs to."""

    software: Software
    root: str
    """Address without a slash at its end."""

    def guesses(self, found_on: str = "") -> tuple[Candidate | Link, ...]:
        """Return services that may be beneath the root, and links to lists of records, the likeliest first.

        `found_on`: address of the page that revealed the portal.
        """
        made = (self._guess(kind, path, found_on) for kind, path in self.software.places)
        return tuple(guess for guess in made if guess is not None)

    def first(self) -> Candidate | Url | None:
        """Return where to begin: the first page of its records, else the likeliest service; None for a root that is no
        address."""
        guesses = self.guesses()
        lists = (_records_of(guess) for guess in guesses)
        found = next((url for url in lists if url is not None), None)
        return found or next((guess for guess in guesses if isinstance(guess, Candidate)), None)

    def _guess(self, kind: str, path: str, found_on: str) -> Candidate | Link | None:
        if path.startswith("~") and self.root.count("/") > 2:
            return None
        url = _LISTS.get(kind, read_url)(self.root + path.removeprefix("~"))
        if url is None or kind in _LISTS:
            return None if url is None else Link(url, where=RECORDS)
        evidence = Evidence(GUESS + self.software.key, found_on, url.address)
        return Candidate(service_endpoint(Kind(kind), url), evidence)


def _records_of(guess: Candidate | Link) -> Url | None:
    """Return the first page of a list of records; None for a service that has none."""
    if isinstance(guess, Link):
        return guess.url
    return get_records_url(guess.endpoint.url) if guess.endpoint.kind is Kind.CSW else None


def portal_of(url: Url) -> Portal | None:
    """Return the portal that an address belongs to; None for an address that reveals none."""
    whole, _, query = url.address[len(url.origin) :].partition("?")
    path = whole.lower()
    return None if len(path) > _LONG_CHARS else _portal_at(url.host, url.origin, whole, query.lower())


@lru_cache(maxsize=8_192)
def _portal_at(host: str, origin: str, whole: str, query: str) -> Portal | None:
    path, known = whole.lower(), _known()
    if known.never.holds(host, path):
        return None
    for form, pattern, software in known.paths:
        if form.may_fit(path, query) and (match := pattern.search(path)):
            end = match.end("place") if "place" in pattern.groupindex else match.start()
            return Portal(software, origin + whole[:end].rstrip("/"))
    authority = origin.partition("://")[2]
    for name, place, software in known.hosts:
        if name.search(authority) and (match := place.search(path)):
            end = match.end("place") if "place" in place.groupindex else 0
            return Portal(software, origin + whole[:end])
    return None


def portal_of_page(page: Page) -> Portal | None:
    """Return the portal that a page belongs to, by its address or else by its markup and headers; None for any other
    page."""
    portal = portal_of(page.final)
    if portal is not None or _known().never.holds(page.final.host, ""):
        return portal
    headers = "\n".join(f"{name}: {value}" for name, value in page.headers.items())
    text = headers.encode("utf-8", "replace").lower() + _markup(page).lower()
    for software in [software for hint, software in _known().hints if hint in text]:
        if any(sign in text and _is_own(sign, text, page.final.host.encode()) for sign in software.page):
            return Portal(software, _root(software, page.final, text))
    return None


def _is_own(sign: bytes, text: bytes, host: bytes) -> bool:
    """Return whether a sign on a page of `host` says what serves the page: unlike a link to another host's path, and
    unlike the title of a text about the program."""
    at = text.index(sign)
    if sign.startswith(b"<title>"):
        return _ABOUT.search(text[at:].partition(b"</title>")[0]) is None
    if not sign.startswith(b"/"):
        return True
    for _ in range(_MOST_PLACES):
        _, is_whole, place = _before(text, at).partition(b"//")
        if not is_whole or place.startswith(host):
            return True
        at = text.find(sign, at + 1)
        if at < 0:
            break
    return False


def _before(text: bytes, at: int) -> bytes:
    """Return the beginning of an address in markup, up to a place in it."""
    return _DELIMITER.split(text[max(at - _LONG_CHARS, 0) : at])[-1]


def _markup(page: Page) -> bytes:
    """Return the beginning of a page of HTML, what precedes the root of an XML document, b"" of any other answer."""
    head = page.body[:_PAGE_BYTES]
    if "html" in page.content_type:
        return head
    before = _BEFORE_ROOT.match(head) if "xml" in page.content_type else None
    return before[0] if before else b""


def _root(software: Software, url: Url, text: bytes) -> str:
    """Return the root of a portal that a page at this address with this markup reveals."""
    address = url.address.partition("?")[0]
    if software.root == "files":
        return url.origin + _folder_of_files(software, url, text)
    if software.root == "page":
        return address
    return address.rpartition("/")[0].removesuffix(software.below) if software.root == "folder" else url.origin


def _folder_of_files(software: Software, url: Url, text: bytes) -> str:
    """Return the part of a page's path in which the files lie that the page loads; '' for the host's root."""
    places = [_before(text, at) for sign in software.page if sign.startswith(b"/") and (at := text.find(sign)) >= 0]
    if software.root_in and (at := text.find(software.root_in)) >= 0:
        places.insert(0, _DELIMITER.split(text[at + len(software.root_in) :][:_LONG_CHARS])[0].rstrip(b"/"))
    folders = (place.rpartition(url.host.encode())[2].decode("ascii", "replace") for place in places)
    path = url.address[len(url.origin) :]
    return next((path[: len(each)] for each in folders if each and f"{path}/".lower().startswith(f"{each}/")), "")


def siblings_of(endpoint: Endpoint) -> Iterator[Candidate]:
    """Yield endpoints of other kinds next to a valid one, by the first form that fits its address."""
    path, _, query = endpoint.url.address[len(endpoint.url.origin) :].partition("?")
    for form in (form for software in all_software() for form in software.beside):
        match = form.path.search(path)
        if match is None:
            continue
        for kind, place in form.others:
            other = endpoint.url.origin + path[: match.start()] + match.expand(place)
            url = read_url(f"{other}?{query}" if query else other)  # vendor parameters (`map=`) stay
            if kind != endpoint.kind and url is not None:
                evidence = Evidence(SIBLING, endpoint.url.address, url.address)
                yield Candidate(service_endpoint(Kind(kind), url), evidence)
        return


# --------------------------------------------------------------------------- the table


@dataclass(frozen=True, slots=True)
class _Known:
    """The forms of all software, compiled, in the order of the table; those of paths come before those of hosts."""

    hints: tuple[tuple[bytes, Software], ...]
    """Parts of the texts of its pages."""
    paths: tuple[tuple[PathForm, re.Pattern[str], Software], ...]
    hosts: tuple[tuple[re.Pattern[str], re.Pattern[str], Software], ...]
    never: Never


@lru_cache(maxsize=1)
def _known() -> _Known:
    every = all_software()
    return _Known(
        hints=tuple((hint, software) for software in every for hint in _hints(software.page)),
        paths=tuple((form, re.compile(form.path), software) for software in every for form in software.paths),
        hosts=tuple(
            (re.compile(form.host), re.compile(form.path), software) for software in every for form in software.hosts
        ),
        never=read_never(),
    )


def _hints(signs: Iterable[bytes]) -> Iterator[bytes]:
    """Yield texts, words of the signs or whole ones, such that each sign contains one of them: all pages are searched
    for them, and they are half as many as the signs."""
    left = set(signs)
    words = left.union(*(_SIGN_WORD.findall(sign) for sign in left))
    while left:
        hint = max(words, key=lambda word: (sum(word in sign for sign in left), len(word), word))
        yield hint
        left = {sign for sign in left if hint not in sign}


@lru_cache(maxsize=1)
def all_software() -> tuple[Software, ...]:
    """Return the software of the table, in its order."""
    import tomllib

    text = resources.files("geocrawl").joinpath("data/software.toml").read_text("utf-8")
    return tuple(_read(key, table) for key, table in tomllib.loads(text).items())


def _read(key: str, table: Mapping[str, Any]) -> Software:
    return Software(
        key=key,
        name=table["name"],
        paths=tuple(PathForm(name=table["name"], **form) for form in table.get("paths", ())),
        hosts=tuple(HostForm(name=table["name"], **{"path": "", **form}) for form in table.get("hosts", ())),
        page=tuple(sign.encode() for sign in _lower(table.get("page", ()))),
        root=table.get("root", "host"),
        root_in=table.get("root_in", "").lower().encode(),
        below=table.get("below", ""),
        places=_pairs(table.get("guesses", ())),
        beside=tuple(
            Neighbours(re.compile(form["path"], re.IGNORECASE), _pairs(form["others"]))
            for form in table.get("beside", ())
        ),
    )


def _pairs(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, path) for kind, _, path in (text.partition(" ") for text in texts))


def _lower(texts: Iterable[str]) -> Iterable[str]:
    return (text.lower() for text in texts)
