"""Probe a STAC: request the catalogue at the address, and from an API also its collections.

A catalogue in files (`catalog.json`) is one request; its children are pages of the crawl, not of the interview (STAC
1.0, Catalog; STAC API 1.0, Core). There may be thousands of children, each of which names its root: a child that a
crawl found leads to the root as the service. An address that a person typed is the service, whatever root it names.
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.formats.json import JsonObject
from geocrawl.model import Candidate, Kind, Status, Url
from geocrawl.ports import Ask, Interview
from geocrawl.probe import interview
from geocrawl.probe.json.answer import json_of, verdict_on
from geocrawl.probe.json.interview import plain_then_json
from geocrawl.probe.json.links import linked, links_of
from geocrawl.probe.leads import SIGNAL, lead
from geocrawl.probe.stac.reader import pages_of, read_stac, with_collections

_IS_THE_SERVICE = ("given", SIGNAL)
"""Signals of a candidate that counts as the service itself: else two that name each other as root would both fail."""


class StacProbe:
    """Proves STAC catalogues and APIs (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.STAC

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.STAC, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request the catalogue, after a page for people as JSON, then its collections; three requests at most."""
        answers = yield from plain_then_json(candidate.endpoint.url, read_stac)
        verdict = verdict_on(answers, candidate)
        if verdict.status is not Status.VALID or verdict.service is None:
            return verdict
        value, base = answers[-1].value, answers[-1].base
        if (root := _root(value, base, candidate)) is not None:
            return replace(verdict, status=Status.INVALID, reason="part", service=None, detail=_of(root), leads=(root,))
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


def _of(root: Candidate) -> str:
    return f"part of {root.endpoint.url.address}"[:500]
