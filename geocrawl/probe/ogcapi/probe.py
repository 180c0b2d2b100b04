"""Probe an OGC API: request its landing page, then the collections and the conformance that it links to.

Paths are never guessed: a landing page links to its parts (OGC 17-069r4, 7.2). The address is requested unchanged;
after a page for people, the JSON that it links to, or the address with `f=json`. Three requests at most, all to the
host of the landing page: links to another host come from servers behind a proxy, and are read as links to this host.
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.model import Candidate, Deviation, Failure, Kind, Page, Status, Url
from geocrawl.ports import Ask, Interview
from geocrawl.probe import interview
from geocrawl.probe.json.answer import JsonAnswer, json_of, verdict_on
from geocrawl.probe.json.interview import plain_then_json
from geocrawl.probe.json.links import linked
from geocrawl.probe.leads import lead
from geocrawl.probe.ogcapi.documents import is_collection
from geocrawl.probe.ogcapi.reader import Description, read_ogcapi
from geocrawl.urls import service_endpoint

MAX_REQUESTS = 3
_COLLECTIONS = ("data", "http://www.opengis.net/def/rel/ogc/1.0/data")
_CONFORMANCE = ("conformance", "http://www.opengis.net/def/rel/ogc/1.0/conformance")
_MISSING = {"conformance": "no-conformance", "collections": "no-collections"}
"""Deviation codes of parts that the landing page links to and that cannot be read."""


class OgcApiProbe:
    """Proves OGC APIs (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.OGCAPI

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.OGCAPI, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request the landing page, then the parts that it links to."""
        answers = yield from plain_then_json(candidate.endpoint.url, read_ogcapi)
        verdict = verdict_on(answers, candidate)
        if verdict.status is not Status.VALID:
            return verdict
        landing = answers[-1]
        api = Description(landing.base).with_document(landing.value)
        missing: list[Deviation] = []
        parts = _parts(landing, MAX_REQUESTS - len(answers))
        for name, url in parts:
            page = yield Ask(url)
            if (value := json_of(page)) is not None:
                api = api.with_document(value)
            else:
                missing.append(Deviation(_MISSING[name], f"{url.address}: {_why(page)}"[:200]))
        return replace(
            verdict,
            service=api.service(),
            deviations=(*verdict.deviations, *missing, *api.deviations()),
            requests=len(answers) + len(parts),
            leads=_root(landing, candidate),
            pages=api.pages,
        )


def _parts(landing: JsonAnswer, most: int) -> list[tuple[str, Url]]:
    """Return the parts that are still to be requested, the more informative first: collections, then conformance."""
    wanted = []
    if "collections" not in landing.value and not is_collection(landing.value):
        wanted.append(("collections", linked(landing.value, landing.base, _COLLECTIONS)))
    if "conformsTo" not in landing.value:
        wanted.append(("conformance", linked(landing.value, landing.base, _CONFORMANCE)))
    return [(name, url) for name, url in wanted if url is not None][:most]


def _why(page: Page | Failure) -> str:
    """Return a description of the answer that came instead of a part."""
    if isinstance(page, Failure):
        return page.detail
    return f"HTTP {page.status}" if not 200 <= page.status < 300 else "no JSON"


def _root(landing: JsonAnswer, candidate: Candidate) -> tuple[Candidate, ...]:
    """Return the API that a part (a collection) names as its root, as a candidate."""
    root = linked(landing.value, landing.base, ("root",))
    if root is None or service_endpoint(Kind.OGCAPI, root).key == candidate.endpoint.key:
        return ()
    return (lead(Kind.OGCAPI, root, landing.base),)
