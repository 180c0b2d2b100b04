"""WFS: GetCapabilities of 1.0.0 (OGC 02-058), 1.1.0 (04-094) and 2.0 (09-025r2), and the feature types in it.

Asked without VERSION a server answers in the highest that it has (2.0.2, 7.6.2.7); where that fails, each by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, children, local_name, text_of, texts
from geocrawl.model import Candidate, Item, Kind, Layer, Service
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.ows.answer import Form, Part, examine
from geocrawl.probe.ows.extents import read_extent
from geocrawl.probe.ows.reader import first_line, first_text, parameter_values, read_keywords
from geocrawl.probe.stream import Take

VERSIONS = (None, "2.0.0", "1.1.0", "1.0.0")
_CRS = ("DefaultCRS", "DefaultSRS", "SRS", "OtherCRS", "OtherSRS")


class WfsProbe:
    """Proves WFS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WFS

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        return interview.fits(Kind.WFS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Ask until the answers tell; at most four requests."""
        form = wfs_form()
        questions = interview.by_version(candidate.endpoint.url, "WFS", VERSIONS)
        return interview.hold(candidate, questions, lambda page: examine(page, form))


def wfs_form() -> Form:
    """What the capabilities of a WFS look like."""
    return Form(
        kind=Kind.WFS,
        sections=frozenset(
            {"Service", "Capability", "ServiceIdentification", "ServiceProvider", "OperationsMetadata"}
            | {"FeatureTypeList", "Filter_Capabilities"}
        ),
        contents=frozenset({"FeatureTypeList"}),
        take=Take(items=frozenset({"FeatureType"}), within=frozenset({"FeatureTypeList"}), read=_read_type),
        finish=_finish,
        usual_version="1.1.0",
    )


def _read_type(element: etree._Element, parent: int | None) -> Part:
    box, codes = read_extent(element)
    layer = Layer(
        name=text_of(child(element, "Name")),
        title=first_line(element, "Title"),
        abstract=first_text(element, "Abstract"),
        parent=parent,
        crs=_crs(element),
        box=box,
        keywords=read_keywords(element),
        item=Item.FEATURE_TYPE,
        formats=texts(children(child(element, "OutputFormats"), "Format")),
    )
    return Part(layer, codes)


def _crs(element: etree._Element) -> tuple[str, ...]:
    """The default one first."""
    stated = (crs_code(text_of(part)) for name in _CRS for part in children(element, name))
    return tuple(dict.fromkeys(filter(None, stated)))


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    formats = parameter_values(root, "GetFeature", "outputFormat") or _old_formats(root)
    return replace(service, layers=tuple(part.layer for part in parts), formats=formats)


def _old_formats(root: etree._Element) -> tuple[str, ...]:
    """In WFS 1.0.0 (12.3.3) formats are elements without text: `<ResultFormat><GML2/></ResultFormat>`."""
    listed = child(root, "Capability", "Request", "GetFeature", "ResultFormat")
    return tuple(dict.fromkeys(filter(None, map(local_name, listed)))) if listed is not None else ()
