"""Read the processes in the capabilities of a WPS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, text_of
from geocrawl.model import Item, Kind, Layer, Service
from geocrawl.probe.ows.answer import Form, Part
from geocrawl.probe.ows.reader import first_line, first_text, read_keywords
from geocrawl.probe.stream import ItemSpec


def wps_form() -> Form:
    """Return the form of a WPS's capabilities: `ProcessOfferings` in 1.0.0 (8.3.2), `Contents` in 2.0 (9.8.2)."""
    return Form(
        kind=Kind.WPS,
        sections=frozenset(
            {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "ProcessOfferings", "Contents"}
            | {"Languages", "WSDL"}
        ),
        contents=frozenset({"ProcessOfferings", "Contents"}),
        items=ItemSpec(
            elements=frozenset({"Process", "ProcessSummary"}),
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
