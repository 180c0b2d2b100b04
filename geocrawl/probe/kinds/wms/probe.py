"""Probe a WMS: request GetCapabilities in the order 1.3.0, no version, 1.1.1, 1.0.0 (WMS 1.3.0, 6.2.4).

The request of version 1.0.0 has other parameters (WMTVER, REQUEST=capabilities), and is made only if an answer hints at
that version, or does not know the request. To a server that misses a parameter which it was sent, the names are sent in
lower case.

An answer is accepted as in the gws paper (Shen et al. 2015): the root is `WMS_Capabilities` or `WMT_MS_Capabilities`
and has `Service` and `Capability`, after tolerant reading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lxml import etree

from geocrawl.formats.json import number_of
from geocrawl.formats.xml import attribute, child, line_of, local_name, namespace_of, text_of, texts
from geocrawl.model import Candidate, Deviation, Dimension, Kind, Layer, Service, Url
from geocrawl.model.times import read_interval
from geocrawl.probe.extents import PIXEL_M, Bounds, axes_are_swapped, bounds_of, read_box
from geocrawl.probe.interview import REFUSALS, ClassifiedAnswer, Question, is_file
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part, ServiceMetadata, version_of, with_layers
from geocrawl.probe.ows.items import edges_of, read_wms_keywords
from geocrawl.probe.stream import ItemSpec
from geocrawl.urls import capabilities_url, read_url

if TYPE_CHECKING:
    from shapely.geometry import Polygon


_NAMESPACE = "http://www.opengis.net/wms"
_ROOTS = {"wms_capabilities": "WMS_Capabilities", "wmt_ms_capabilities": "WMT_MS_Capabilities"}
_OLD = re.compile(r"wmtver|request=capabilities|request=map\b|\b1\.0\.0\b", re.IGNORECASE)
_UNKNOWN_REQUEST = re.compile(
    r"(?:unknown|invalid|unsupported|illegal|unrecogni[sz]ed|bad)\W+(?:wms\W+)?(?:request|operation)\b"
    r"|\b(?:request|operation)\b.{0,40}(?:unknown|not (?:supported|recogni[sz]ed|known)|invalid)",
    re.IGNORECASE,
)


# --------------------------------------------------------------------------- layers
# Inherited properties stay at the layer that states them, so a thousand layers do not contain a thousand copies of one
# list of reference systems. Every part is optional: a faulty part is left out, never the layer or the service.


_Parts = dict[str, list[etree._Element]]
_Shared = dict[Any, Any]
"""Cache of values read from one document: equal texts are read and stored once."""
_MAX_SHARED = 2_000
_SIDES = ("westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude")


def layer_spec() -> ItemSpec[Part]:
    """Return the specification for reading the layers of one document (`stream.read_items`), with a cache for it."""
    shared: _Shared = {}

    def read(element: etree._Element, parent: int | None) -> Part:
        if len(shared) > _MAX_SHARED:
            shared.clear()
        return _read_layer(element, parent, shared)

    return replace(LAYERS, read=read)


def _read_layer(element: etree._Element, parent: int | None, shared: _Shared) -> Part:
    parts: _Parts = {}
    for part in element:
        parts.setdefault(local_name(part), []).append(part)
    box, codes = _read_own_box(parts, shared)
    if box is not None and _has_swapped_axes(element, parts, box):
        codes = (*codes, "axis-order")
    dimensions = read_dimensions(parts.get("Dimension", ()), parts.get("Extent", ()))
    style_names = (child(style, "Name") for style in parts.get("Style", ()))
    layer = Layer(
        name=text_of(_first(parts, "Name")),
        title=line_of(_first(parts, "Title")),
        abstract=text_of(_first(parts, "Abstract")),
        parent=parent,
        crs=_once(shared, _crs([*parts.get("CRS", ()), *parts.get("SRS", ())])),
        box=box,
        bounds=next(filter(None, map(_bounds, parts.get("BoundingBox", ()))), None),
        dimensions=dimensions,
        times=next(
            (read_interval(one.first, one.last, one.step) for one in dimensions if one.name.lower() == "time"), None
        ),
        scales=read_scales(parts),
        styles=_once(shared, texts(name for name in style_names if name is not None)),
        queryable=attribute(element, "queryable").strip().lower() in ("1", "true"),
        keywords=read_wms_keywords(element) if "KeywordList" in parts or "Keywords" in parts else (),
    )
    return Part(layer, codes)


def _read_alone(element: etree._Element, parent: int | None) -> Part:
    return _read_layer(element, parent, {})


LAYERS: ItemSpec[Part] = ItemSpec(frozenset({"Layer"}), frozenset({"Capability"}), _read_alone)
"""Reads layers one by one; `layer_spec` adds a cache, which cannot be sent to another process."""


def _once(shared: _Shared, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shared copy of equal lists: servers repeat the same reference systems and styles in every layer."""
    kept: tuple[str, ...] = shared.setdefault(value, value)
    return kept


def _first(parts: _Parts, name: str) -> etree._Element | None:
    found = parts.get(name)
    return found[0] if found else None


def _crs(elements: Iterable[etree._Element]) -> tuple[str, ...]:
    """Return codes of all CRS or SRS elements, each once; one element may list several (WMS 1.1.0)."""
    return tuple(dict.fromkeys(code for element in elements for code in text_of(element).split()))


def _bounds(element: etree._Element) -> Bounds | None:
    """Return CRS and sides of a BoundingBox (WMS 1.3.0, 7.2.4.6.8); None for sides without numbers or area."""
    code = (attribute(element, "CRS") or attribute(element, "SRS")).strip()
    return bounds_of(code, edges_of(element))


def _read_own_box(parts: _Parts, shared: _Shared) -> tuple[Polygon | None, tuple[str, ...]]:
    sides = _stated_box(parts)
    if sides is None:
        return None, ()
    found: tuple[Polygon | None, tuple[str, ...]]
    if ("box", sides) in shared:
        found = shared["box", sides]
    else:
        found = shared["box", sides] = read_box(*sides)
    return found


def _has_swapped_axes(element: etree._Element, parts: _Parts, box: Polygon) -> bool:
    for stated in parts.get("BoundingBox", ()):
        if (attribute(stated, "CRS") or attribute(stated, "SRS")).strip().upper() == "EPSG:4326":
            version = attribute(element.getroottree().getroot(), "version").strip()
            return axes_are_swapped(box, edges_of(stated), latitude_first=version.startswith("1.3"))
    return False


def _stated_box(parts: _Parts) -> tuple[str, str, str, str] | None:
    """Return west, south, east and north as written."""
    if (geographic := _first(parts, "EX_GeographicBoundingBox")) is not None:
        west, south, east, north = (text_of(child(geographic, side)) for side in _SIDES)
    elif (lat_lon := _first(parts, "LatLonBoundingBox")) is not None:
        west, south, east, north = edges_of(lat_lon)
    else:
        return None
    return west, south, east, north


class WmsForm(CapabilitiesForm):
    """The form of the capabilities of a WMS, which are older than OWS Common."""

    def item_spec(self) -> ItemSpec[Part]:
        """Return how the layers of one document are read, with a cache for that document."""
        return layer_spec()

    def version_of_root(self, root: etree._Element) -> str:
        """Return the version that the root's name stands for."""
        return "1.3.0" if local_name(root).lower() == "wms_capabilities" else "1.1.1"

    def missing(self, root: etree._Element) -> str:
        """Return which of the two sections a document lacks; '' when neither."""
        return " and ".join(part for part in sorted(self.sections, reverse=True) if child(root, part) is None)

    def root_deviations(self, root: etree._Element) -> list[Deviation]:
        """Return departures in name, version and namespace (WMS 1.3.0, 7.2.4.1 and annex E; 1.1.1, annex A)."""
        deviations = []
        name, version = local_name(root), version_of(root)
        if name != _ROOTS[name.lower()]:
            deviations.append(Deviation("root-case", name))
        if not version:
            deviations.append(Deviation("no-version", f"taken for {self.version_of_root(root)}"))
        if version and (name.lower() == "wms_capabilities") != version.startswith("1.3"):
            deviations.append(Deviation("root-name", f"{name} for version {version}"))
        expected = _NAMESPACE if (version or self.version_of_root(root)).startswith("1.3") else None
        namespace = namespace_of(root) or None
        if namespace != expected:
            code = "namespace-missing" if namespace is None else "namespace-wrong"
            deviations.append(Deviation(code, f"{namespace or 'none'} instead of {expected or 'none'}"))
        return deviations


def _finish(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    """Add layers, and formats and address of GetMap, which is called Map before 1.1.0."""
    formats = metadata.operations.values("GetMap", "format") or metadata.operations.values("Map", "format")
    address = metadata.operations.address("GetMap", "Map")
    return replace(with_layers(metadata, parts), formats=formats, content_address=address)


FORM = WmsForm(
    kind=Kind.WMS,
    sections=frozenset({"Service", "Capability"}),
    contents=frozenset({"Capability"}),
    items=LAYERS,
    finish=_finish,
    usual_version="1.3.0",
    noun="layers",
)


class WmsProbe(OwsProbe):
    """Proves WMS endpoints, at most six requests (`ports.Probe`)."""

    def __init__(self) -> None:
        super().__init__(FORM, ("1.3.0", None, "1.1.1"), lower_case=True)

    def questions(self, endpoint: Url) -> tuple[Question, ...]:
        """Return all requests that may be made, in order: that of 1.0.0 before the one in lower case."""
        questions = super().questions(endpoint)
        if is_file(endpoint):
            return questions
        oldest = Question(_oldest_request(endpoint), REFUSALS, _hints_at_oldest, "oldest-dialect")
        return (*questions[:-1], oldest, questions[-1])


def _hints_at_oldest(answers: Sequence[ClassifiedAnswer], candidate: Candidate) -> bool:
    texts = (candidate.evidence.link, *(answer.classification.detail for answer in answers))
    return any(_OLD.search(text) or _UNKNOWN_REQUEST.search(text) for text in texts)


def _oldest_request(endpoint: Url) -> Url:
    """Return the GetCapabilities request of WMS 1.0.0 (6.2.5)."""
    modern = capabilities_url(endpoint).address
    old = modern.replace("REQUEST=GetCapabilities", "WMTVER=1.0.0&REQUEST=capabilities")
    return read_url(old) or endpoint


interview = WmsProbe().interview


# --------------------------------------------------------------------------- dimensions and limits on the scale
# Dimensions: WMS 1.3.0, annex C, one element `Dimension` with values; 1.1.1, annex C, `Dimension` without values and
# `Extent` with them. Scales: 1.3.0, 7.2.4.6.9, `MinScaleDenominator` and `MaxScaleDenominator`; 1.1.1, 7.1.4.5.8,
# `ScaleHint`, the diagonal of a pixel in metres.


_MAX_VALUE_CHARS = 100
_MAX_DIMENSIONS = 20


def read_dimensions(dimensions: Sequence[etree._Element], extents: Sequence[etree._Element]) -> tuple[Dimension, ...]:
    """Return a layer's own dimensions, each with its default value and the first and the last value of its extent."""
    found: dict[str, Dimension] = {}
    for element in (*dimensions, *extents):
        name = attribute(element, "name").strip()
        if not name or len(found) >= _MAX_DIMENSIONS:
            continue
        text = (element.text or "").strip()
        first, last = text[:_MAX_VALUE_CHARS].partition(",")[0], text[-_MAX_VALUE_CHARS:].rpartition(",")[2]
        default = attribute(element, "default").strip()[:_MAX_VALUE_CHARS]
        known = found.get(name.lower(), Dimension(name))
        found[name.lower()] = Dimension(
            known.name,
            default or known.default,
            first.split("/")[0].strip() or known.first,
            _end_of_interval(last) or known.last,
            "".join(first.split("/")[2:3]).strip() or known.step,
        )
    return tuple(found.values())


def _end_of_interval(value: str) -> str:
    """Return the end of `start/end/step`; any other value unchanged."""
    parts = value.split("/")
    return (parts[1] if len(parts) > 1 else value).strip()


def read_scales(parts: Mapping[str, Sequence[etree._Element]]) -> tuple[float, float] | None:
    """Return least and greatest scale denominator; None when the layer states neither, or none that make sense."""
    if parts.get("MinScaleDenominator") or parts.get("MaxScaleDenominator"):
        texts = [
            text_of(next(iter(parts.get(name, ())), None)) for name in ("MinScaleDenominator", "MaxScaleDenominator")
        ]
        least, greatest = map(_positive, texts)
    elif hints := parts.get("ScaleHint"):
        least, greatest = (
            number / math.sqrt(2) / PIXEL_M if number else number
            for number in (_positive(attribute(hints[0], name)) for name in ("min", "max"))
        )
    else:
        return None
    limits = least or 0.0, greatest or math.inf
    return limits if limits[0] < limits[1] and limits != (0.0, math.inf) else None


def _positive(text: str) -> float | None:
    number = number_of(text)
    return number if number is not None and number > 0 else None
