"""Probe WMTS 1.0.0 (OGC 07-057r7): request capabilities by KVP and RESTful.

A RESTful service is a document in a file (`…/1.0.0/WMTSCapabilities.xml`, 10.2.2 and annex D) and is requested
unchanged. An endpoint that does not answer KVP may be the root of a RESTful service, so the document below it is
requested last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.xml import child, children, text_of, texts
from geocrawl.model import Kind, Layer, Service, Url
from geocrawl.model.kinds import KindDeclaration, PathForm, program_in_folder
from geocrawl.model.times import Times, read_values
from geocrawl.probe.extents import crs_code
from geocrawl.probe.interview import ELSEWHERE, Question, is_file
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part, ServiceMetadata, union
from geocrawl.probe.ows.items import first_line, first_text, read_extent, read_keywords
from geocrawl.probe.stream import ItemSpec
from geocrawl.urls import read_url

KIND = KindDeclaration(
    kind=Kind.WMTS,
    name="OGC Web Map Tile Service",
    proof="capabilities 1.0.0 with Contents, by query or as WMTSCapabilities.xml",
    services=frozenset({"wmts", "ogc:wmts"}),
    shared_requests=frozenset({"getcapabilities", "getfeatureinfo", "gettile", "getlegendgraphic"}),
    paths=(
        PathForm(
            name="WMTS: its capabilities as a document, by the standard's path (OGC 07-057r7, 10.3)",
            hint="wmtscapabilities",
            path=r'/wmtscapabilities(?:\.xml)?"?$',
            example="https://tiles.example.org/arcgis/rest/services/Roads/MapServer/WMTS/1.0.0/WMTSCapabilities.xml",
        ),
        PathForm(
            name="a path that ends in wmts",
            hint="wmts",
            path=r"[/_.]wmts[0-9]{0,3}(?:/v?1\.0\.0|\.cgi|\.fcgi|\.php|\.ashx|\.aspx|\.exe)?/?$",
            example="https://maps.example.org/geoserver/gwc/service/wmts",
        ),
        program_in_folder("wmts", "https://maps.example.org/wmts/service"),
        PathForm(
            name="WMTS of a map's own path (GeoServer rewritten, ERDAS Apollo)",
            hint="wmts/",
            path="/(?:ogc|geoserver/[^/]+)/wmts/[^/.]+/?$",
            example="https://images.example.org/erdas-iws/ogc/wmts/orthophotos",
        ),
    ),
    reports_like=Kind.WFS,
    instead=Kind.WMS,
    namespaces=frozenset({"wmts"}),
    operation="GetTile",
    sections=(("Contents", "TileMatrixSet"),),
    client="owslib.wmts:WebMapTileService",
    connections={"": "wms"},
    web_maps={
        "openlayers": """\
async (service, name) => {
  const answer = await fetch(service.description);
  const capabilities = new ol.format.WMTSCapabilities().read(await answer.text());
  const options = ol.source.WMTS.optionsFromCapabilities(capabilities, {layer: name});
  return new ol.layer.Tile({source: new ol.source.WMTS(options)});
}"""
    },
    layers_by_name=True,
    by_capabilities=True,
    snippets={
        "openlayers": """\
import WMTSCapabilities from 'ol/format/WMTSCapabilities.js';
import TileLayer from 'ol/layer/Tile.js';
import WMTS, {optionsFromCapabilities} from 'ol/source/WMTS.js';

const text = await (await fetch($capabilities)).text();
const options = optionsFromCapabilities(new WMTSCapabilities().read(text), {layer: $layer});
const layer = new TileLayer({source: new WMTS(options)});"""
    },
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
        times=next(filter(None, map(_times, children(element, "Dimension"))), None),
    )
    links = children(element, "TileMatrixSetLink")
    return Part(layer, codes, texts(name for link in links for name in children(link, "TileMatrixSet")))


def _times(dimension: etree._Element) -> Times | None:
    """Return the times of a dimension of a layer (table 9) that is time; None for another one."""
    if text_of(child(dimension, "Identifier")).lower() not in ("time", "dim_time"):
        return None
    values = texts(children(dimension, "Value")) or ("",)
    return read_values(values[0].partition(",")[0], values[-1].rpartition(",")[2])


def _finish(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    """Add layers and formats. A layer's reference systems are those of its tile matrix sets."""
    sets = _matrix_sets(metadata.root)
    layers = [replace(part.layer, crs=union([sets.get(name, ()) for name in part.refers])) for part in parts]
    return replace(metadata.service, layers=tuple(layers), formats=union([layer.formats for layer in layers]))


def _matrix_sets(root: etree._Element) -> Mapping[str, tuple[str, ...]]:
    """Return the reference system of each tile matrix set by its identifier."""
    sets = {}
    for element in children(child(root, "Contents"), "TileMatrixSet"):
        code = crs_code(text_of(child(element, "SupportedCRS")))
        sets[text_of(child(element, "Identifier"))] = (code,) if code else ()
    return sets


# --------------------------------------------------------------------------- interview


FORM = CapabilitiesForm(
    kind=Kind.WMTS,
    sections=frozenset({"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents", "Themes"}),
    contents=frozenset({"Contents"}),
    items=ItemSpec(
        elements=frozenset({"Layer"}),
        within=frozenset({"Contents"}),
        read=_read_layer,
        drop=frozenset({"TileMatrixSetLimits"}),
    ),
    finish=_finish,
    usual_version="1.0.0",
)


class WmtsProbe(OwsProbe):
    """Proves WMTS endpoints, at most four requests (`ports.Probe`)."""

    def __init__(self) -> None:
        super().__init__(FORM, ("1.0.0", None), lower_case=True)

    def questions(self, endpoint: Url) -> tuple[Question, ...]:
        """Return all requests that may be made, in order, that of the RESTful document last."""
        document = None if is_file(endpoint) else restful_document(endpoint)
        elsewhere = (Question(document, ELSEWHERE),) if document else ()
        return (*super().questions(endpoint), *elsewhere)


def restful_document(endpoint: Url) -> Url | None:
    """Return the address of the capabilities of a RESTful service with this root."""
    place, _, query = endpoint.address.partition("?")
    root = place.rstrip("/").removesuffix("/1.0.0")
    return read_url(f"{root}/1.0.0/WMTSCapabilities.xml" + (f"?{query}" if query else ""))


interview = WmtsProbe().interview
