"""Recognise candidates among the links of a page, by an address alone, or as typed by a person.

Most links are no candidates, and there are thousands each second: a few searches for short texts dismiss them before
any query is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice

from geocrawl.detect.addresses import SignRules, asks_for_records, of_query, query_words, strong, weak
from geocrawl.detect.software import portal_of_page, siblings_of
from geocrawl.model import (
    ADDRESS_ONLY,
    MOST_CANDIDATES,
    SIBLING,
    Candidate,
    Document,
    Endpoint,
    Evidence,
    Kind,
    Link,
    Page,
    Url,
)
from geocrawl.model.kinds import KindDeclaration
from geocrawl.urls import RECORDS, document_endpoint, query_parameters, read_url, service_endpoint

_FOUND_IN = (
    ADDRESS_ONLY
    | {"form", "redirect", "xml", "sitemap", "seed", "object", "embed", "link", "metadata", "csw-record", "ckan"}
    | {"stac", "records", "ogcapi", "geonetwork", "arcgis-folder", "arcgis-portal", "owc", "wmc", "kml", "qgis"}
    | {"gdal", "dcat", "thredds", "opendatasoft", "udata", "geonode", "socrata", "piveau", "esrigeoportal", "imagery"}
    | {"feed"}
)
"""Places of a link that are recorded as the way a candidate was found, instead of the sign in its address."""
_ADDRESS_WITHIN = re.compile(r"https?(?:://|%3a%2f%2f|%3a//)", re.IGNORECASE)


class Detector:
    """Recognises candidates (`ports.Recogniser`) by the declared signs of kinds of service, without I/O."""

    def __init__(self, kinds: Iterable[KindDeclaration]) -> None:
        """Make a detector of endpoints of these `kinds`; of two kinds that fit, the first one counts."""
        self._kinds = tuple(kinds)
        self._of_url = lru_cache(maxsize=8_192)(self._recognise)

    @cached_property
    def _rules(self) -> SignRules:
        return SignRules.of(self._kinds)

    def candidates(self, document: Document) -> tuple[tuple[Candidate, int | None], ...]:
        """Return candidates of a page, each with the index of its link in `document.links`.

        The index is None when the document itself is a candidate (it was read as capabilities), and when the link stays
        an ordinary link: its query only contains the address of a service, or it is a page of a catalogue's records.
        After `MOST_CANDIDATES` all links stay ordinary ones.
        """
        candidates: list[tuple[Candidate, int | None]] = []
        if kind := kind_of_document(self._rules, document):
            evidence = Evidence("document", document.url.address, document.url.address, document.title)
            endpoint = document_endpoint(kind, document.url)
            if kind is not Kind.STAC or not _is_part(document, endpoint):
                candidates.append((Candidate(endpoint, evidence), None))
        pages = {link.url.identity for link in document.links if link.where == RECORDS}
        for index, link in enumerate(document.links):
            if len(candidates) >= MOST_CANDIDATES:
                break
            candidate = self._of_link(link)
            if candidate is not None:
                is_page = link.url.identity in pages or (
                    candidate.endpoint.kind is Kind.CSW and asks_for_records(link.url)
                )
                candidates.append((with_evidence(candidate, document, link), None if is_page else index))
            elif _may_contain_address(link.url):
                candidates += [(with_evidence(inner, document, link), None) for inner in self._within(link.url)]
        return tuple(candidates)

    def of_url(self, url: Url) -> Candidate | None:
        """Return the candidate recognised by an address alone; None for an ordinary address."""
        return self._of_url(url)

    def of_text(self, url: Url) -> tuple[Candidate, ...]:
        """Return the candidate recognised by an address alone, else those by the addresses within its query."""
        candidate = self._of_url(url)
        if candidate is not None:
            return (candidate,)
        return tuple(self._within(url)) if _may_contain_address(url) else ()

    def siblings(self, endpoint: Endpoint) -> tuple[Candidate, ...]:
        """Return endpoints of other kinds that servers of this form have next to a valid one, the likeliest first."""
        return tuple(item for item in siblings_of(endpoint) if item.endpoint.kind in self._rules.of_kind)

    def guesses(self, page: Page) -> tuple[Candidate | Link, ...]:
        """Return what the software of a page has beneath its root; () when the address of the page is a service."""
        portal = portal_of_page(page) if self.of_url(page.final) is None else None
        return portal.guesses(page.final.address) if portal is not None else ()

    def instead(self, refused: Candidate) -> tuple[Candidate, ...]:
        """Return endpoints of other kinds at an address where a guessed kind was refused with an exception report."""
        url, signal = refused.endpoint.url, refused.evidence.signal
        if signal == SIBLING or not (refused.weak or signal == "document"):
            return ()
        own = self.of_url(url)
        kinds = kinds_instead(
            self._rules, refused.endpoint.kind, own.endpoint.kind if own else None, by_report=signal == "document"
        )
        evidence = Evidence(SIBLING, url.address, url.address)
        return tuple(Candidate(service_endpoint(kind, url), evidence) for kind in kinds if kind in self._rules.of_kind)

    def candidate_at(self, url: Url, kind: Kind | None = None) -> Candidate:
        """Return the candidate at an address that a person typed; it is never weak.

        The kind is the one that the person names, else the one that the address looks like, else WMS.
        """
        if kind is None:
            candidate = self.of_url(url)
            kind = candidate.endpoint.kind if candidate else Kind.WMS
        return Candidate(service_endpoint(kind, url), Evidence("given", "", url.address))

    def _recognise(self, url: Url) -> Candidate | None:
        address = url.address.lower()
        path, mark, query = address[len(url.origin) :].partition("?")
        if mark and ("%" in query or self._rules.query.search(query)):
            return of_query(self._rules, url, path)
        kind = self._rules.servers.find(url.host, path, query)
        return weak(kind, url) if kind else None

    def _of_link(self, link: Link) -> Candidate | None:
        """Recognise a link by its address, or without a strong sign there by the kind that the link's place names."""
        if link.where == RECORDS and link.rel == "child":
            return None  # a catalogue below a STAC's root is read as a page, which names the root
        candidate = self.of_url(link.url)
        if not link.kind or (candidate is not None and not candidate.weak):
            return candidate
        return self._of_named_kind(link) or candidate

    def _of_named_kind(self, link: Link) -> Candidate | None:
        """Return the candidate of the kind that is named next to the link's address.

        The candidate is weak when the text around the link is meant for people.
        """
        if link.kind not in self._rules.of_kind:
            return None
        path = link.url.address[len(link.url.origin) :].partition("?")[0].lower()
        if self._rules.servers.never.holds(link.url.host, path):
            return None
        evidence = Evidence("named", "", link.url.address)
        endpoint = service_endpoint(Kind(link.kind), link.url)
        return Candidate(endpoint, evidence, weak=link.where in ("a", "area", "text"))

    def _within(self, url: Url) -> list[Candidate]:
        """Return candidates among the addresses in a query: `viewer?wms=https%3A%2F%2Fhost%2Fows%3F…`."""
        found: list[Candidate] = []
        for _, value in query_parameters(url):
            start = _ADDRESS_WITHIN.match(value)
            inner = read_url(value) if start else None
            candidate = self.of_url(inner) if inner else None
            if candidate is not None and inner is not None:
                found.append(replace(candidate, evidence=Evidence("parameter", "", inner.address)))
        return found


def _may_contain_address(url: Url) -> bool:
    """Return whether the query of an address may contain another one: a quick check."""
    return "%3" in url.address or "=http" in url.address


def _is_part(document: Document, endpoint: Endpoint) -> bool:
    """Return whether a document of STAC names another one of its host as its root, which is a candidate instead."""
    return any(
        link.rel == "root"
        and link.kind == Kind.STAC
        and link.url.host == document.url.host
        and service_endpoint(Kind.STAC, link.url).key != endpoint.key
        for link in document.links
    )


def with_evidence(candidate: Candidate, document: Document, link: Link) -> Candidate:
    """Return the candidate with the page and the link that it was found by."""
    signal = link.where if link.where in _FOUND_IN else candidate.evidence.signal
    return replace(
        candidate, evidence=Evidence(signal, document.url.address, link.url.address, link.anchor, link.times)
    )


# --------------------------------------------------------------------------- documents


def kind_of_document(rules: SignRules, document: Document) -> Kind | None:
    """Return the kind of service that a page itself is; None for an ordinary page."""
    if document.xml_root:
        roots = rules.roots
        return roots.kind(document.xml_root, document.xml_namespace) or roots.errors.get(document.xml_root.lower())
    if document.json_keys:
        return _of_keys(rules, document)
    return None


def _of_keys(rules: SignRules, document: Document) -> Kind | None:
    keys = frozenset(document.json_keys)
    if "geometry" in keys:  # a feature, an item, a record
        return None
    for declared in rules.kinds:
        if any(needed <= keys for needed in declared.keys):
            return declared.kind
    if "links" in keys:
        relations = {link.rel.lower() for link in document.links}
        for declared in rules.kinds:
            if not declared.relations.isdisjoint(relations):
                return declared.kind
    return None


# --------------------------------------------------------------------------- other kinds
# An exception report proves that a service of some kind answers there. A page's words or a path named the wrong kind: a
# MapServer that offers features only, a `…/wmts` that an anchor calls WMS, a report of OWS Common (OGC 06-121r9, 8)
# that no WMS sends.


def kinds_instead(rules: SignRules, refused: Kind, of_address: Kind | None, *, by_report: bool) -> tuple[Kind, ...]:
    """Return the kinds to ask instead of a refused one; one request each, in most cases one kind.

    `of_address`: the kind that the address by itself reveals, if any. `by_report`: whether the refused kind was guessed
    from an exception report alone.
    """
    declared = rules.of_kind.get(refused)
    if declared is None or declared.instead is None:
        return ()
    if of_address is not None and of_address is not refused:
        return (of_address,)
    if by_report and (alike := tuple(known.kind for known in rules.kinds if known.reports_like is refused)):
        return alike
    return (declared.instead,)


# --------------------------------------------------------------------------- the signs of the paper


REQUESTS = frozenset({"getcapabilities", "getmap", "getfeatureinfo"})
"""Values of REQUEST that make a link a candidate, whatever service it names."""


class QueryDetector(Detector):
    """Recognises links with `service=WMS` or one of three requests, and guesses nothing."""

    def __init__(self) -> None:
        """Make a detector that knows no kind but WMS."""
        super().__init__(())

    def candidates(self, document: Document) -> tuple[tuple[Candidate, int | None], ...]:
        """Return the candidates among the links that readers of a page can click, each with the index of its link."""
        candidates = (
            (with_evidence(candidate, document, link), index)
            for index, link in enumerate(document.links)
            if link.where in ("a", "area") and (candidate := self.of_url(link.url)) is not None
        )
        return tuple(islice(candidates, MOST_CANDIDATES))

    def siblings(self, endpoint: Endpoint) -> tuple[Candidate, ...]:
        """Return (): the paper asks for nothing else where a service is."""
        return ()

    def guesses(self, page: Page) -> tuple[Candidate | Link, ...]:
        """Return (): the paper knows no software."""
        return ()

    def instead(self, refused: Candidate) -> tuple[Candidate, ...]:
        """Return (): what is refused is no service."""
        return ()

    def _recognise(self, url: Url) -> Candidate | None:
        words = query_words(url) if "?" in url.address else {}
        if words.get("service") == "wms" or words.get("request") in REQUESTS:
            return strong(Kind.WMS, url)
        return None
