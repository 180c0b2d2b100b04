"""Probe a STAC: request the catalogue at the address, and from an API also its collections.

A catalogue in files (`catalog.json`) is one request; its children are pages of the crawl, not of the interview (STAC
1.0, Catalog; STAC API 1.0, Core). There may be thousands of children, and each names its root: a child that a
crawl found leads to the root as the service. An address that a person typed is the service, whatever root it names.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice

from geocrawl.formats.json import (
    MAX_ITEMS,
    JsonObject,
    first_line,
    line_of,
    lines,
    member,
    object_of,
    objects,
    text_of,
)
from geocrawl.model import (
    ANSWER,
    Candidate,
    ContentOutcome,
    Endpoint,
    Failure,
    Item,
    Kind,
    Layer,
    Link,
    Page,
    Purpose,
    Service,
    Status,
    Url,
)
from geocrawl.model.kinds import HostForm, KindDeclaration, PathForm
from geocrawl.ports import Ask, ContentInterview, Interview
from geocrawl.probe.answer import Classification, with_fingerprint
from geocrawl.probe.content import Attempts, judge_features
from geocrawl.probe.interview import ask, lead, verdict_on
from geocrawl.probe.json_answers import (
    WebLink,
    collection_deviations,
    examine_json,
    json_of,
    licence_in,
    linked,
    links_of,
    plain_then_json,
    read_collection,
)
from geocrawl.probe.registry import kind_of_json
from geocrawl.urls import RECORDS, with_parameters


def is_stac(value: JsonObject) -> bool:
    """Return whether an object is a document of STAC 0.6 to 1.1.

    That is a catalogue, a collection, the landing page of an API or its list of collections.
    """
    if not isinstance(value.get("stac_version"), str) or value.get("type") in ("Feature", "FeatureCollection"):
        return False
    return bool(value.get("id") and isinstance(value.get("links"), list)) or isinstance(value.get("collections"), list)


KIND = KindDeclaration(
    kind=Kind.STAC,
    name="SpatioTemporal Asset Catalog",
    proof="a catalogue, a collection or the landing page of an API",
    items=("collection", "collections"),
    paths=(
        PathForm(
            name="STAC: a catalogue in a file",
            hint="catalog",
            path=r"/[^/]*catalog[^/]*\.json$",
            example="https://data.example.org/imagery/catalog.json",
        ),
        PathForm(
            name="STAC: a path or a file that names it",
            hint="stac",
            path=r"/(?:stac|[^/.]*[-_]stac|stac[-_][^/.]*)(?:/(?:api/?)?(?:v?[0-9][0-9.]*)?/?)?(?:/(?:search|collections(?:/[^/.]+){0,3}))?/?$|stac[^/]*\.json$|stac/(?:[^/]+/)*collection\.json$",
            example="https://data.example.org/ogc/stac/v1/",
        ),
        PathForm(
            name="STAC: one of several catalogues below a path that names it",
            hint="/stac/",
            path=r"/stac/[^/.]+/?$",
            example="https://data.example.org/stac/LPCLOUD",
        ),
    ),
    hosts=(
        HostForm(
            name="STAC",
            host="(?:^|[.-])stac(?:-[a-z]+)?[.-]",
            path="^/(?:api/?)?(?:v?[0-9][0-9.]*/?)?$",
            example="https://stac.example.org/v1/",
        ),
    ),
    keys=(frozenset({"stac_version", "links"}),),
    is_document=is_stac,
    standard="https://api.stacspec.org/v1.0.0/core",
    protocol="STAC",
    media_type="application/json",
    connections={"": "stac"},
)


# --------------------------------------------------------------------------- documents
# pystac is not used: it builds whole objects, refuses documents without a required member, and fetches links.


MAX_PAGES = 50
"""Most children of one catalogue that are read as pages."""
_PAGES = ("child", "data")
"""Relations whose targets are further parts of the catalogue."""


def read_stac(page: Page, value: JsonObject) -> Classification | None:
    """Return the service that a document of a STAC describes; None for any other document, such as an item."""
    if kind_of_json(value) is not Kind.STAC:
        return None
    layers, codes = _contents(value, page.final)
    service = Service(
        kind=Kind.STAC,
        version=line_of(value.get("stac_version")),
        title=first_line(value, "title", "id"),
        abstract=text_of(value.get("description")),
        keywords=lines(value.get("keywords")),
        provider=_provider(value),
        access_constraints=licence_in(value, page.final),
        formats=_formats(value),
        layers=layers,
    )
    form = "api" if "conformsTo" in value else line_of(value.get("type")).lower() or "catalogue"
    return Classification("ok", form, service, collection_deviations(codes))


def with_collections(service: Service, value: JsonObject, url: Url) -> Service:
    """Return a landing page's service with the list of collections instead of the links to children."""
    layers, _ = _contents(value, url)
    if not layers:
        return service
    formats = tuple(dict.fromkeys((*service.formats, *(name for layer in layers for name in layer.formats))))
    return with_fingerprint(replace(service, layers=layers, formats=formats))


def _contents(value: JsonObject, url: Url) -> tuple[tuple[Layer, ...], list[str]]:
    """Return the collections of a document, itself first when it is one; else the catalogues that it links to."""
    listed = objects(value.get("collections"))[:MAX_ITEMS] or ([value] if "extent" in value else [])
    read = [read_collection(item, url, keywords=lines(item.get("keywords")), formats=_formats(item)) for item in listed]
    children = [_child(link) for link in islice(links_of(value, url), MAX_ITEMS) if link.rel == "child"]
    layers = [*(layer for layer, _ in read), *(children if "collections" not in value else [])]
    return tuple(layers[:MAX_ITEMS]), [code for _, codes in read for code in codes]


def _child(link: WebLink) -> Layer:
    """Return a child by its title in the catalogue and its name in the address."""
    place = link.url.address.partition("?")[0].rstrip("/").rpartition("/")
    name = place[0].rpartition("/")[2] if place[2].endswith(".json") else place[2]
    return Layer(name=name[:200], title=link.title or name[:200], item=Item.FOLDER)


def _provider(value: JsonObject) -> str:
    """Return the first provider that has a name (STAC 1.0, Collection: `providers`)."""
    return next((name for provider in objects(value.get("providers")) if (name := line_of(provider.get("name")))), "")


def _formats(value: JsonObject) -> tuple[str, ...]:
    """Return media types of the assets of a collection's items (`item_assets`)."""
    assets = object_of(value.get("item_assets")) or member(value, "summaries", "item_assets")
    formats = (line_of(object_of(asset).get("type")) for asset in list(assets.values())[:1000])
    return tuple(dict.fromkeys(name for name in formats if name))


# --------------------------------------------------------------------------- further pages


def pages_of(value: JsonObject, url: Url) -> tuple[Link, ...]:
    """Return links to further parts of the catalogue, at most `MAX_PAGES`: children, and an API's list of collections.

    Items are data, not services, and are ignored.
    """
    provider = _provider(value)
    pages = {
        link.url.identity: Link(link.url, link.title, provider, link.rel, RECORDS)
        for link in links_of(value, url)
        if link.rel in _PAGES and link.url.identity != url.identity and link.media_type != "text/html"
    }
    return tuple(pages.values())[:MAX_PAGES]


# --------------------------------------------------------------------------- interview


_IS_THE_SERVICE = ("given", ANSWER)
"""Signals of a candidate that counts as the service itself: else two that name each other as root would both fail."""


def interview(candidate: Candidate) -> Interview:
    """Request the catalogue, after a page for people as JSON, then its collections; three requests at most."""
    questions = plain_then_json(candidate.endpoint.url)
    answers = yield from ask(candidate, questions, partial(examine_json, read=read_stac))
    verdict = verdict_on(answers, candidate)
    if verdict.status is not Status.VALID or verdict.service is None:
        return verdict
    value, base = answers[-1].classification.value, answers[-1].base
    if (root := _root(value, base, candidate)) is not None:
        return replace(
            verdict,
            status=Status.INVALID,
            reason="part",
            service=None,
            detail=f"part of {root.endpoint.url.address}"[:500],
            leads=(root,),
        )
    service, pages = verdict.service, pages_of(value, base)
    collections = linked(value, base, ("data",)) if "conformsTo" in value else None
    if collections is None:
        return replace(verdict, pages=pages)
    if listed := json_of((yield Ask(collections))):
        service = with_collections(service, listed, base)
    return replace(verdict, service=service, pages=pages, requests=verdict.requests + 1)


def _root(value: JsonObject, base: Url, candidate: Candidate) -> Candidate | None:
    """Return the root catalogue that a document names, on the same host; None if the document is its own root."""
    if candidate.evidence.signal in _IS_THE_SERVICE:
        return None
    url = next((link.url for link in links_of(value, base) if link.rel == "root"), None)
    if url is None or url.host != base.host:
        return None
    root = lead(Kind.STAC, url, base)
    return root if root.endpoint.key != candidate.endpoint.key else None


# --------------------------------------------------------------------------- content
# Check the content of a STAC: request one item by the catalogue's links (STAC API 1.0, Item Search; STAC 1.0).
#
# An API is searched; a catalogue in files is followed from child to child until a document links to an item.


MAX_REQUESTS = 4
_CONTENT = ("search", "items", "item")
_DEEPER = ("child", "data")


def check_content(endpoint: Endpoint, service: Service, _most: int) -> ContentInterview:
    """Follow the catalogue's links to an item. Four requests at most."""
    attempts = Attempts()
    url, name = endpoint.url, service.title
    for _ in range(MAX_REQUESTS):
        answer = yield Ask(url, Purpose.MAP)
        value = json_of(answer) or {}
        base = answer.final if isinstance(answer, Page) else answer.url
        following = _following(value, base) if _is_catalogue(value) else None
        if following is None or following == url:
            attempts.add(name, "", url, answer, _look(answer, value))
            break
        url = following
    return attempts.report(endpoint)


def _is_catalogue(value: JsonObject) -> bool:
    return value.get("type") not in ("Feature", "FeatureCollection")


def _following(value: JsonObject, base: Url) -> Url | None:
    """Return the address of the next document on the path to an item; None where the catalogue ends."""
    for rel in _CONTENT:
        if (url := linked(value, base, (rel,))) is not None:
            return url if rel == "item" else with_parameters(url, {"limit": "1"})
    found = linked(value, base, _DEEPER)
    listed = value.get("collections")
    if found is None and isinstance(listed, list) and listed and isinstance(listed[0], dict):
        found = linked(listed[0], base, _CONTENT)
    return found


def _look(answer: Page | Failure, value: JsonObject) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail) of the last document: an item, or a catalogue that leads to none."""
    if value.get("stac_version") and _is_catalogue(value):
        return ContentOutcome.BLANK, "a catalogue without items"
    return judge_features(answer)
