"""Probe WCS 1.0.0 (OGC 03-065r6), 1.1 (07-067r5) and 2.0 (09-110r4): request capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, children, text_of, texts
from geocrawl.model import Item, Kind, Layer, Service
from geocrawl.model.declarations import KindDeclaration, PathForm, QgisLayer
from geocrawl.probe.extents import crs_code
from geocrawl.probe.ows.capabilities import Form, OwsProbe, Part, Said, union
from geocrawl.probe.ows.extents import read_extent
from geocrawl.probe.ows.items import first_line, first_text, read_keywords
from geocrawl.probe.stream import ItemSpec

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
    namespaces=("wcs",),
    operation="GetCoverage",
    sections=(("Contents", "CoverageSummary"),),
    client="owslib.wcs:WebCoverageService",
    client_versions=("1.0.0", "1.1.0", "1.1.1", "2.0.0", "2.0.1"),
    connections={"": "wcs"},
    qgis_layer=QgisLayer(
        provider="wcs", type="raster", source="crs={crs}&identifier={name_quoted}&url={address_quoted}"
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
        crs=tuple(dict.fromkeys(filter(None, (crs_code(text_of(each)) for each in supported)))),
        box=box,
        keywords=read_keywords(element),
        item=Item.COVERAGE,
        formats=texts(children(element, "SupportedFormat")),
    )
    return Part(layer, codes)


def _finish(said: Said, parts: Sequence[Part]) -> Service:
    """Add layers and formats. WCS 2.0 states reference systems once: a group around all coverages gets them."""
    layers = tuple(part.layer for part in parts)
    metadata = child(said.root, "ServiceMetadata")
    stated = texts(children(metadata, "formatSupported")) or said.operations.values("GetCoverage", "format")
    crs = _crs_for_all(metadata)
    if crs and layers:
        group = Layer(name="", title=said.service.title, crs=crs, item=Item.COVERAGE)
        below = (replace(layer, parent=0 if layer.parent is None else layer.parent + 1) for layer in layers)
        layers = (group, *below)
    return replace(said.service, layers=layers, formats=stated or union([layer.formats for layer in layers]))


def _crs_for_all(metadata: etree._Element | None) -> tuple[str, ...]:
    """Return the systems of the CRS extension (OGC 11-053r1, 9.2), which servers also place outside of `Extension`."""
    extension = child(metadata, "Extension")
    stated = [*children(extension, "crsSupported"), *children(metadata, "crsSupported")]
    stated += [each for inner in children(extension, "CrsMetadata") for each in children(inner, "crsSupported")]
    return tuple(dict.fromkeys(filter(None, (crs_code(text_of(each)) for each in stated))))


FORM = Form(
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
PROBE = OwsProbe(FORM, (None, "2.0.1", "1.1.1", "1.0.0"))
