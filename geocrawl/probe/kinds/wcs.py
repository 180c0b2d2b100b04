"""Probe WCS 1.0.0 (OGC 03-065r6), 1.1 (07-067r5) and 2.0 (09-110r4): request capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lxml import etree

from geocrawl.formats.json import number_of
from geocrawl.formats.xml import attribute, child, children, text_of, texts
from geocrawl.model import Item, Kind, Layer, Page, Service
from geocrawl.model.kinds import KindDeclaration, PathForm, QgisLayer, program_in_folder
from geocrawl.ports import Ask
from geocrawl.probe.extents import Sides, box_text, crs_code, is_geographic, is_latitude_first
from geocrawl.probe.images import drawable
from geocrawl.probe.levels import Grid
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part, ServiceMetadata, union
from geocrawl.probe.ows.items import first_line, first_text, read_extent, read_keywords, read_times
from geocrawl.probe.previews import DEGREES, LayerContext, Levels, Tiles, View
from geocrawl.probe.stream import ItemSpec, read_whole
from geocrawl.urls import request_url

KIND = KindDeclaration(
    kind=Kind.WCS,
    name="OGC Web Coverage Service",
    proof="capabilities 1.0.0 to 2.0.1",
    items=("coverage", "coverages"),
    services=frozenset({"wcs", "ogc:wcs"}),
    requests=frozenset({"getcoverage", "describecoverage", "describeeocoverageset"}),
    paths=(
        PathForm(
            name="a path that ends in wcs",
            hint="wcs",
            path=r"[/_.]wcs[0-9]{0,3}(?:/v?[12][.0-9]*|\.cgi|\.fcgi|\.php|\.exe)?/?$",
            example="https://maps.example.org/geoserver/wcs",
        ),
        program_in_folder("wcs", "https://maps.example.org/wcs/service"),
        PathForm(
            name="ArcGIS Server, coverages",
            hint="wcsserver",
            path="/wcsserver/?$",
            example="https://gis.example.org/arcgis/services/Elevation/ImageServer/WCSServer",
        ),
        PathForm(
            name="THREDDS, a data set's coverages",
            hint="/thredds/wcs/",
            path="/thredds/wcs/.+[^/]$",
            example="https://data.example.org/thredds/wcs/ocean/sst.nc",
        ),
    ),
    roots=frozenset({"wcs_capabilities"}),
    reports_like=Kind.WFS,
    instead=Kind.WMS,
    namespaces=frozenset({"wcs"}),
    operation="GetCoverage",
    sections=(("Contents", "CoverageSummary"),),
    client="owslib.wcs:WebCoverageService",
    client_versions=("1.0.0", "1.1.0", "1.1.1", "2.0.0", "2.0.1"),
    connections={"": "wcs"},
    qgis_layers=(
        QgisLayer(provider="wcs", type="raster", source="crs={crs}&identifier={name_quoted}&url={address_quoted}"),
    ),
)


_NAMES = ("CoverageId", "Identifier", "name")
_TITLES = ("Title", "label")
_ABSTRACTS = ("Abstract", "description")


def _read_coverage(element: etree._Element, parent: int | None) -> Part:
    """Read a coverage; in 1.1 (8.3.3) a coverage without an identifier is a group of the coverages within."""
    box, codes = read_extent(element)
    supported = [*children(element, "SupportedCRS"), *children(element, "supportedCRS")]
    layer = Layer(
        name=next(filter(None, (text_of(child(element, name)) for name in _NAMES)), ""),
        title=next(filter(None, (first_line(element, name) for name in _TITLES)), ""),
        abstract=next(filter(None, (first_text(element, name) for name in _ABSTRACTS)), ""),
        parent=parent,
        crs=tuple(dict.fromkeys(filter(None, (crs_code(text_of(code)) for code in supported)))),
        box=box,
        keywords=read_keywords(element),
        item=Item.COVERAGE,
        formats=texts(children(element, "SupportedFormat")),
        times=read_times(element),
    )
    return Part(layer, codes)


def _finish(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    """Add layers and formats. WCS 2.0 states reference systems once: a group around all coverages gets them."""
    layers = tuple(part.layer for part in parts)
    section = child(metadata.root, "ServiceMetadata")
    stated = texts(children(section, "formatSupported")) or metadata.operations.values("GetCoverage", "format")
    crs = _crs_for_all(section)
    if crs and layers:
        group = Layer(name="", title=metadata.service.title, crs=crs, item=Item.COVERAGE)
        below = (replace(layer, parent=0 if layer.parent is None else layer.parent + 1) for layer in layers)
        layers = (group, *below)
    return replace(metadata.service, layers=layers, formats=stated or union([layer.formats for layer in layers]))


def _crs_for_all(metadata: etree._Element | None) -> tuple[str, ...]:
    """Return the systems of the CRS extension (OGC 11-053r1, 9.2), which servers also place outside of `Extension`."""
    extension = child(metadata, "Extension")
    stated = [*children(extension, "crsSupported"), *children(metadata, "crsSupported")]
    stated += [element for inner in children(extension, "CrsMetadata") for element in children(inner, "crsSupported")]
    return tuple(dict.fromkeys(filter(None, (crs_code(text_of(value)) for value in stated))))


FORM = CapabilitiesForm(
    kind=Kind.WCS,
    sections=frozenset(
        {"Service", "Capability", "ContentMetadata", "ServiceIdentification", "ServiceProvider"}
        | {"OperationsMetadata", "ServiceMetadata", "Contents"}
    ),
    contents=frozenset({"ContentMetadata", "Contents"}),
    items=ItemSpec(
        elements=frozenset({"CoverageOfferingBrief", "CoverageSummary"}),
        within=frozenset({"ContentMetadata", "Contents"}),
        read=_read_coverage,
    ),
    finish=_finish,
    usual_version="1.0.0",
)
interview = OwsProbe(FORM, (None, "2.0.1", "1.1.1", "1.0.0")).interview


# --------------------------------------------------------------------------- pictures of a part of a map
# GetCoverage of a box in degrees (1.0.0, 9.2; 2.0.1, 8.4, with its extensions for reference systems, 11-053r1, and
# scaling, 12-039). The description of the coverage is requested first: 1.0.0 has the formats there, 2.0 the names of
# the axes. Servers of 1.1 know 1.0.0, too, whose request is much simpler.


_ACROSS = ("x", "e", "lon", "i")
"""Beginnings of the names of axes that point to the east."""
_DEGREES = "http://www.opengis.net/def/crs/EPSG/0/4326"
_GRID = "http://www.opengis.net/def/axis/OGC/1/"


def _levels(context: LayerContext, view: View) -> Levels:
    """Request the description of a coverage; return the part of its extent that is in view, as one tile."""
    is_new = context.service.version.startswith("2")
    query = {
        "SERVICE": "WCS",
        "VERSION": context.service.version if is_new else "1.0.0",
        "REQUEST": "DescribeCoverage",
        "COVERAGEID" if is_new else "COVERAGE": context.layer.name,
    }
    answer = yield Ask(request_url(context.url, query))
    root = read_whole(answer).root if isinstance(answer, Page) else None
    if root is None:
        return "the service sent no description of the coverage"
    if (whole := context.extent or _extent(root)) is None:
        return "the service does not say where the coverage lies in degrees"
    stated = [word for line in texts(root.iter("{*}formats")) for word in line.split()]
    if not (formats := drawable((*stated, *context.service.formats))):
        return "the service sends the coverage in no format that can be shown"
    west, south = map(max, whole[:2], view.box[:2])
    east, north = map(min, whole[2:], view.box[2:])
    if not (west < east and south < north):
        return "the coverage lies elsewhere; move the map"
    shares = (east - west) / (view.box[2] - view.box[0]), (north - south) / (view.box[3] - view.box[1])
    width, height = (max(round(share * side), 1) for share, side in zip(shares, view.size, strict=True))
    of_part = _of_part_2 if is_new else _of_part_1
    part = of_part(root, (west, south, east, north), (width, height))
    whole_query = {**query, "REQUEST": "GetCoverage", "FORMAT": formats[0]}
    url = request_url(context.url, (*whole_query.items(), *part))
    return (Grid(west, north, east - west, north - south, (0, 0), (0, 0), lambda column, row: url),)


_Pairs = tuple[tuple[str, str], ...]


def _of_part_1(_: etree._Element, sides: Sides, size: tuple[int, int]) -> _Pairs:
    return ("CRS", "EPSG:4326"), ("BBOX", box_text(sides)), ("WIDTH", str(size[0])), ("HEIGHT", str(size[1]))


def _of_part_2(root: etree._Element, sides: Sides, size: tuple[int, int]) -> _Pairs:
    """Return the parameters for a part by the axes of the coverage, and for its pixels by those of its grid."""
    system, labels = _system_and_axes(root)
    across, up = _east_first(labels, system) if labels else ("Long", "Lat")
    grid = text_of(next(root.iter("{*}axisLabels"), None)).split()[:2]
    columns, rows = _east_first(grid, system) if len(grid) == 2 else (across, up)
    if (columns, rows) == ("i", "j"):  # GeoServer knows them by their long names alone
        columns, rows = f"{_GRID}i", f"{_GRID}j"
    west, south, east, north = sides
    return (
        ("SUBSET", f"{across}({west:.9g},{east:.9g})"),
        ("SUBSET", f"{up}({south:.9g},{north:.9g})"),
        ("SCALESIZE", f"{columns}({size[0]}),{rows}({size[1]})"),
        *(() if is_geographic(system) else (("SUBSETTINGCRS", _DEGREES), ("OUTPUTCRS", _DEGREES))),
    )


def _extent(root: etree._Element) -> Sides | None:
    """Return the extent in the description of a coverage of WCS 2.0; None when it is not in degrees."""
    system, labels = _system_and_axes(root)
    corners = [text_of(next(root.iter(f"{{*}}{name}"), None)).split()[:2] for name in ("lowerCorner", "upperCorner")]
    low, high = ([number for item in corner if (number := number_of(item)) is not None] for corner in corners)
    if not is_geographic(system) or len(low) < 2 or len(high) < 2:
        return None
    if _is_north_first(labels, system):
        return low[1], low[0], high[1], high[0]
    return low[0], low[1], high[0], high[1]


def _system_and_axes(root: etree._Element) -> tuple[str, list[str]]:
    """Return the reference system of a coverage and the names of its first two axes, if it states them."""
    envelope = next(root.iter("{*}Envelope", "{*}EnvelopeWithTimePeriod"), None)
    if envelope is None:
        return "", []
    labels = attribute(envelope, "axisLabels").split()[:2]
    return attribute(envelope, "srsName"), labels if len(labels) == 2 else []


def _east_first(labels: list[str], system: str) -> tuple[str, str]:
    return (labels[1], labels[0]) if _is_north_first(labels, system) else (labels[0], labels[1])


def _is_north_first(labels: list[str], system: str) -> bool:
    """Return whether the axis to the north comes first, by the names of the axes, else by the reference system."""
    if not labels:
        return is_latitude_first(system)
    return labels[1].lower().startswith(_ACROSS) and not labels[0].lower().startswith(_ACROSS)


def preview(context: LayerContext) -> Tiles | None:
    """Show a coverage by the part of it that is in view, unless the service states formats of data alone."""
    formats = context.service.formats
    if context.layer.item is not Item.COVERAGE or (formats and not drawable(formats)):
        return None
    return Tiles((DEGREES,), partial(_levels, context))
