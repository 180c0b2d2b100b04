"""CSW 2.0.2 (OGC 07-006r1) and 3.0 (12-176r7): capabilities, and the first page of its records.

Version 2.0.2 is asked for first: nearly every catalogue has it, and those that have 3.0 as well answer both. REQUEST is
spelt as the standard has it, for some compare its value by case. A catalogue has no list of contents: its items are the
types of record that GetRecords names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.model import Candidate, Item, Kind, Layer, Link, Service, Status, Url
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.ows.answer import Form, Part, examine
from geocrawl.probe.ows.reader import parameter_values
from geocrawl.probe.stream import Take
from geocrawl.urls import RECORDS, get_records_url

_VERSIONS = ("2.0.2", None, "3.0.0")
_DUBLIN_CORE = "csw:Record"


class CswProbe:
    """Proves CSW endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.CSW

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        return interview.fits(Kind.CSW, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Ask until the answers tell; at most three requests. A valid one's first page of records is in `pages`."""
        form = csw_form()
        questions = interview.by_version(candidate.endpoint.url, "CSW", _VERSIONS)
        verdict = yield from interview.hold(candidate, questions, lambda page: examine(page, form))
        if verdict.status is not Status.VALID or verdict.service is None:
            return verdict
        return replace(verdict, pages=_first_records(candidate.endpoint.url, verdict.service))


def _first_records(endpoint: Url, service: Service) -> tuple[Link, ...]:
    if interview.is_file(endpoint):
        return ()
    address = get_records_url(endpoint, version=service.version)
    return (Link(address, anchor=service.title, context=service.provider, where=RECORDS),)


def csw_form() -> Form:
    """What the capabilities of a CSW look like."""
    return Form(
        kind=Kind.CSW,
        sections=frozenset(
            {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Filter_Capabilities", "Languages"}
        ),
        contents=frozenset(),
        take=Take(items=frozenset(), within=frozenset(), read=lambda element, parent: Part(Layer("", ""))),
        finish=_finish,
        usual_version="2.0.2",
    )


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    types = parameter_values(root, "GetRecords", "typeNames", "typeName") or (_DUBLIN_CORE,)
    layers = tuple(Layer(name=name, title=name, item=Item.RECORD_TYPE) for name in types)
    return replace(service, layers=layers, formats=parameter_values(root, "GetRecords", "outputFormat"))
