"""WMTS 1.0.0 (OGC 07-057r7), by KVP and RESTful, and the layers in its capabilities.

A RESTful service is a document in a file (`…/1.0.0/WMTSCapabilities.xml`, 10.2.2 and annex D) and is asked as it
stands. An endpoint that does not answer KVP may be the root of one, so the document beneath it is asked for last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, children, text_of, texts
from geocrawl.model import Candidate, Kind, Layer, Service, Url
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.interview import Question
from geocrawl.probe.ows.answer import Form, Part, examine, union
from geocrawl.probe.ows.extents import read_extent
from geocrawl.probe.ows.reader import first_line, first_text, read_keywords
from geocrawl.probe.stream import Take
from geocrawl.urls import read_url

_VERSIONS = ("1.0.0", None)


class WmtsProbe:
    """Proves WMTS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WMTS

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        return interview.fits(Kind.WMTS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Ask until the answers tell; at most three requests."""
        form = wmts_form()
        return interview.hold(candidate, _questions(candidate.endpoint.url), lambda page: examine(page, form))


def _questions(endpoint: Url) -> tuple[Question, ...]:
    questions = interview.by_version(endpoint, "WMTS", _VERSIONS)
    document = None if interview.is_file(endpoint) else restful_document(endpoint)
    return (*questions, Question(None, document, other_place=True)) if document else questions


def restful_document(endpoint: Url) -> Url | None:
    """The capabilities of a RESTful service whose root this is."""
    place, _, query = endpoint.address.partition("?")
    root = place.rstrip("/").removesuffix("/1.0.0")
    return read_url(f"{root}/1.0.0/WMTSCapabilities.xml" + (f"?{query}" if query else ""))


def wmts_form() -> Form:
    """What the capabilities of a WMTS look like."""
    return Form(
        kind=Kind.WMTS,
        sections=frozenset({"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents", "Themes"}),
        contents=frozenset({"Contents"}),
        take=Take(
            items=frozenset({"Layer"}),
            within=frozenset({"Contents"}),
            read=_read_layer,
            drop=frozenset({"TileMatrixSetLimits"}),
        ),
        finish=_finish,
        usual_version="1.0.0",
    )


def _read_layer(element: etree._Element, parent: int | None) -> Part:
    box, codes = read_extent(element)
    layer = Layer(
        name=text_of(child(element, "Identifier")),
        title=first_line(element, "Title"),
        abstract=first_text(element, "Abstract"),
        parent=parent,
        box=box,
        styles=texts(name for style in children(element, "Style") for name in children(style, "Identifier")),
        queryable=child(element, "InfoFormat") is not None,
        keywords=read_keywords(element),
        formats=texts(children(element, "Format")),
    )
    links = children(element, "TileMatrixSetLink")
    return Part(layer, codes, texts(name for link in links for name in children(link, "TileMatrixSet")))


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    """Reference systems of layers are those of their tile matrix sets, which stand after them."""
    sets = _matrix_sets(root)
    layers = [replace(part.layer, crs=union([sets.get(name, ()) for name in part.refers])) for part in parts]
    return replace(service, layers=tuple(layers), formats=union([layer.formats for layer in layers]))


def _matrix_sets(root: etree._Element) -> Mapping[str, tuple[str, ...]]:
    """Identifier of each tile matrix set, with its reference system."""
    found = {}
    for each in children(child(root, "Contents"), "TileMatrixSet"):
        code = crs_code(text_of(child(each, "SupportedCRS")))
        found[text_of(child(each, "Identifier"))] = (code,) if code else ()
    return found
