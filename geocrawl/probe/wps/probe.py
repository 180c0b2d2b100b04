"""WPS 1.0.0 (OGC 05-007r7) and 2.0 (14-065r2), and the processes in its capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, text_of
from geocrawl.model import Candidate, Item, Kind, Layer, Service
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.ows.answer import Form, Part, examine
from geocrawl.probe.ows.reader import first_line, first_text, read_keywords
from geocrawl.probe.stream import Take

_VERSIONS = (None, "1.0.0", "2.0.0")


class WpsProbe:
    """Proves WPS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WPS

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        return interview.fits(Kind.WPS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Ask until the answers tell; at most three requests."""
        form = wps_form()
        questions = interview.by_version(candidate.endpoint.url, "WPS", _VERSIONS)
        return interview.hold(candidate, questions, lambda page: examine(page, form))


def wps_form() -> Form:
    """What the capabilities of a WPS look like: `ProcessOfferings` in 1.0.0 (8.3.2), `Contents` in 2.0 (9.8.2)."""
    return Form(
        kind=Kind.WPS,
        sections=frozenset(
            {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "ProcessOfferings", "Contents"}
            | {"Languages", "WSDL"}
        ),
        contents=frozenset({"ProcessOfferings", "Contents"}),
        take=Take(
            items=frozenset({"Process", "ProcessSummary"}),
            within=frozenset({"ProcessOfferings", "Contents"}),
            read=_read_process,
        ),
        finish=_finish,
        usual_version="1.0.0",
    )


def _read_process(element: etree._Element, parent: int | None) -> Part:
    name = text_of(child(element, "Identifier"))
    return Part(
        Layer(
            name=name,
            title=first_line(element, "Title") or name,
            abstract=first_text(element, "Abstract"),
            parent=parent,
            keywords=read_keywords(element),
            item=Item.PROCESS,
        )
    )


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    return replace(service, layers=tuple(part.layer for part in parts))
