"""Probe WMTS 1.0.0 (OGC 07-057r7): request capabilities by KVP and RESTful.

A RESTful service is a document in a file (`…/1.0.0/WMTSCapabilities.xml`, 10.2.2 and annex D) and is requested
unchanged. An endpoint that does not answer KVP may be the root of a RESTful service, so the document below it is
requested last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from lxml import etree

from geocrawl.formats.json import number_of
from geocrawl.formats.xml import child, children, text_of, texts
from geocrawl.model import Kind, Layer, Service, Url
from geocrawl.model.kinds import KindDeclaration, PathForm, program_in_folder
from geocrawl.model.times import Times, read_values
from geocrawl.probe.extents import crs_code
from geocrawl.probe.interview import ELSEWHERE, Question, is_file
from geocrawl.probe.levels import Scales, scales_of
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
    return Part(layer, codes, {text_of(child(link, "TileMatrixSet")): _levels(link) for link in links})


def _levels(link: etree._Element) -> tuple[str, ...]:
    """Return the names of the matrices in which a layer has tiles; () for all of the set."""
    limits = children(child(link, "TileMatrixSetLimits"), "TileMatrixLimits")
    return tuple(text_of(child(limit, "TileMatrix")) for limit in limits)


def _times(dimension: etree._Element) -> Times | None:
    """Return the times of a dimension of a layer (table 9) that is time; None for another one."""
    if text_of(child(dimension, "Identifier")).lower() not in ("time", "dim_time"):
        return None
    values = texts(children(dimension, "Value")) or ("",)
    return read_values(values[0].partition(",")[0], values[-1].rpartition(",")[2])


class _Set(NamedTuple):
    """A tile matrix set."""

    crs: tuple[str, ...]
    """Its reference system; () for none."""
    scales: Mapping[str, float | None]
    """Scale denominator of each of its matrices."""
    whole: Scales | None
    """The least and the greatest of them."""


def _finish(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    """Add layers and formats. A layer's reference systems and scales are those of its tile matrix sets."""
    sets = _matrix_sets(metadata.root)
    layers = [
        replace(
            part.layer,
            crs=union([sets[name].crs for name in part.refers if name in sets]),
            scales=scales_of(chain.from_iterable(_scales(name, sets, part.refers[name]) for name in part.refers)),
        )
        for part in parts
    ]
    return replace(metadata.service, layers=tuple(layers), formats=union([layer.formats for layer in layers]))


def _scales(name: str, sets: Mapping[str, _Set], levels: Sequence[str]) -> Iterator[float | None]:
    """Yield the scale denominators of the matrices in which a layer has tiles: of all of a set, where its limits name
    none of them. The set's name may stand before theirs (`google:6` for `6`)."""
    known = sets.get(name)
    if known is not None:
        meant = {level.removeprefix(f"{name}:") for level in levels}.union(levels) & known.scales.keys()
        yield from [known.scales[level] for level in meant] or known.whole or ()


def _matrix_sets(root: etree._Element) -> Mapping[str, _Set]:
    """Return the tile matrix sets by their identifiers."""
    sets: dict[str, _Set] = {}
    for element in children(child(root, "Contents"), "TileMatrixSet"):
        code = crs_code(text_of(child(element, "SupportedCRS")))
        scales = {
            text_of(child(matrix, "Identifier")): number_of(text_of(child(matrix, "ScaleDenominator")))
            for matrix in children(element, "TileMatrix")
        }
        sets[text_of(child(element, "Identifier"))] = _Set((code,) if code else (), scales, scales_of(scales.values()))
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
        drop=frozenset({"MinTileRow", "MaxTileRow", "MinTileCol", "MaxTileCol"}),
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
