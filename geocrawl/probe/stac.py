"""The interview of a STAC: the catalogue at the address, and for an API the collections that it links to.

A catalogue in files (`catalog.json`) is one request; its children and items are pages of the crawl, not of the
interview (STAC 1.0, Catalog; STAC API 1.0, Core).
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.model import Candidate, Kind, Status
from geocrawl.ports import Ask, Interview
from geocrawl.probe import interview
from geocrawl.probe.json_answer import json_of, verdict_on
from geocrawl.probe.json_interview import in_turn, plain_then_json
from geocrawl.probe.json_links import linked
from geocrawl.probe.stac_reader import pages_of, read_stac, with_collections


class StacProbe:
    """Proves STAC catalogues and APIs (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.STAC

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        return interview.fits(Kind.STAC, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Ask for the catalogue, as JSON where a page for people comes, then for its collections; three at most."""
        answers = yield from in_turn(plain_then_json(candidate.endpoint.url), read_stac)
        verdict = verdict_on(answers, candidate)
        if verdict.status is not Status.VALID or verdict.service is None:
            return verdict
        value, base = answers[-1].value, answers[-1].base
        service, pages = verdict.service, pages_of(value, base)
        collections = linked(value, base, ("data",)) if "conformsTo" in value else None
        if collections is None:
            return replace(verdict, pages=pages)
        if listed := json_of((yield Ask(collections))):
            service = with_collections(service, listed, base)
        return replace(verdict, service=service, pages=pages, requests=verdict.requests + 1)
