"""Probe an ArcGIS Server: request `?f=json` of a folder, a layer, or a service of maps, images, features or tiles.

A folder is a service here, too: its items are the services and folders that it lists, and each readable item is probed
later. A service leads to the OGC services that it also offers (`supportedExtensions`; WMTS, if it has a cache of
tiles), a layer to its service. Source: ArcGIS REST API: Catalog, Map Service, Feature Service, Image Service, Layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import unquote

from geocrawl.formats.json import (
    MAX_ITEMS,
    JsonObject,
    integer_of,
    line_of,
    lines,
    list_of,
    number_of,
    object_of,
    objects,
    text_of,
)
from geocrawl.model import (
    Attempt,
    Candidate,
    ContentOutcome,
    Deviation,
    Endpoint,
    Failure,
    Item,
    Kind,
    Layer,
    Page,
    Purpose,
    Service,
    Status,
    Url,
)
from geocrawl.model.kinds import KindDeclaration, PathForm, QgisLayer
from geocrawl.model.times import FIRST_S, LAST_S, Times
from geocrawl.ports import Ask, ContentInterview, FieldQuestion, Interview
from geocrawl.probe.answer import Classification
from geocrawl.probe.content import (
    Attempts,
    doubt,
    judge_features,
    judge_image,
    judge_vector_tile,
    sample_addresses,
    spread,
)
from geocrawl.probe.extents import (
    Bounds,
    Sides,
    bounds_of,
    box_text,
    image_size,
    in_numbered_system,
    is_web_mercator,
    middle_of,
)
from geocrawl.probe.fields import read_esri_layers
from geocrawl.probe.interview import REFUSALS, Question, ask, lead, verdict_on
from geocrawl.probe.json_answers import FOR_PEOPLE, examine_json, json_of
from geocrawl.probe.levels import Grid, Scales, filled, sample_levels, scales_of, stated_scales
from geocrawl.probe.previews import DEGREES, MERCATOR, Features, LayerContext, Picture, View
from geocrawl.urls import below, read_url, with_parameters

if TYPE_CHECKING:
    from shapely.geometry import Polygon

_KEYS = frozenset({"serviceDescription", "mapName", "layers", "tables", "services", "folders", "geometryType"})
_KEYS |= {"serviceDataType", "pixelSizeX", "tileMap", "defaultStyles"}


def is_arcgis(value: JsonObject) -> bool:
    """Return whether an object is a folder, a service or a layer of an ArcGIS Server."""
    if number_of(value.get("currentVersion")) is None:
        return False
    return not _KEYS.isdisjoint(value)


KIND = KindDeclaration(
    kind=Kind.ARCGIS,
    name="ArcGIS REST services",
    proof="the JSON of a folder, MapServer, ImageServer, FeatureServer or VectorTileServer",
    items=("item", "items"),
    paths=(
        PathForm(
            name="ArcGIS Server, all that lies beneath its services",
            hint="/rest/services",
            path=r'/rest/services(?:/|"?$)',
            example="https://gis.example.org/arcgis/rest/services/Roads/MapServer/0",
            without="/exts/inspire",
        ),
        PathForm(
            name="ArcGIS Server, what it says of itself",
            hint="/rest/info",
            path="/rest/info/?$",
            example="https://gis.example.org/arcgis/rest/info",
        ),
    ),
    keys=(
        frozenset({"currentVersion", "services"}),
        frozenset({"currentVersion", "serviceDescription"}),
        frozenset({"currentVersion", "fullExtent", "capabilities"}),
    ),
    is_document=is_arcgis,
    standard="https://developers.arcgis.com/rest/",
    protocol="ESRI:REST",
    media_type="application/json",
    description_query="f=json",
    connections={"/featureserver": "arcgisfeature", "/vectortileserver": "", "": "arcgismap"},
    qgis_layers=(
        # QGIS does not say in which system the box of a picture is: it must be the service's. Features are transformed.
        QgisLayer(
            provider="arcgismapserver",
            type="raster",
            source="crs='{crs}' format='PNG32' layer='{name}' url='{address}'",
            path_ends=("/mapserver",),
        ),
        QgisLayer(
            provider="arcgismapserver",
            type="raster",
            source="crs='{crs}' format='PNG32' layer='' url='{address}'",
            path_ends=("/imageserver",),
        ),
        QgisLayer(
            provider="arcgisfeatureserver",
            type="vector",
            source="crs='{crs}' url='{address}/{name}'",
            crs="EPSG:3857",
            path_ends=("/featureserver",),
        ),
    ),
    web_maps={
        "openlayers": "(service) => new ol.layer.Tile({source: new ol.source.TileArcGISRest({url: service.url})})",
        "leaflet": "(service) => new ArcGisTiles(service.url)",
    },
    web_map_ends=("/mapserver", "/imageserver"),
)


# --------------------------------------------------------------------------- extents


_LAST_EPSG_CODE = 32767
"""Highest code of EPSG; higher codes are Esri's."""
_ESRI_IS_EPSG = {102100: 3857, 102113: 3785}


def esri_system(reference: JsonObject) -> tuple[str, ...]:
    """Return the code of an ArcGIS spatial reference, one or none: EPSG's if it has one, else Esri's."""
    code = _well_known(reference)
    if code <= 0:
        return ()
    return (f"{'ESRI' if code > _LAST_EPSG_CODE else 'EPSG'}:{code}",)


def _well_known(reference: JsonObject) -> int:
    for name in ("latestWkid", "wkid"):
        if code := number_of(reference.get(name)):
            return _ESRI_IS_EPSG.get(int(code), int(code))
    return 0


# --------------------------------------------------------------------------- documents
# The extent that a service states applies to all its layers, so it belongs to a nameless item above the layers, like
# the root layer of a WMS.


_UNNAMED = frozenset({"", "layers", "map", "esrimap"})
"""Default names of a service's map."""


_UNMENDED: tuple[str, ...] = ()
_PROJECTS = (".aprx", ".mxd", ".msd")
"""Suffixes of titles that are files on the author's machine."""


class DocumentType(Enum):
    """The forms of document that an ArcGIS Server has."""

    FOLDER = auto()
    MAP = auto()
    IMAGE = auto()
    FEATURES = auto()
    TILES = auto()
    """A service of vector tiles."""
    LAYER = auto()
    """A part of a map or feature service."""


def type_of(value: JsonObject) -> DocumentType:
    """Return the form of a document that `is_arcgis`."""
    if isinstance(value.get("services"), list) or isinstance(value.get("folders"), list):
        return DocumentType.FOLDER
    if "serviceDataType" in value or "pixelSizeX" in value:
        return DocumentType.IMAGE
    if "tileMap" in value or "defaultStyles" in value:
        return DocumentType.TILES
    if "id" in value and "layers" not in value and "type" in value:
        return DocumentType.LAYER
    return (
        DocumentType.MAP
        if {"mapName", "supportedImageFormatTypes", "singleFusedMapCache"} & value.keys()
        else DocumentType.FEATURES
    )


def read_arcgis(page: Page, value: JsonObject) -> Classification | None:
    """Return the service that an ArcGIS document describes; None for any other document."""
    if not is_arcgis(value):
        return None
    form = type_of(value)
    items, codes = (_entries(value), _UNMENDED) if form is DocumentType.FOLDER else _contents(form, value, page.final)
    if form is DocumentType.FOLDER and not items:
        return Classification("empty", "a folder without services")
    service = _service(form, value, page.final, items)
    deviations = tuple(Deviation(code, "the extent of the service") for code in codes)
    return Classification("ok", form.name.lower(), service, deviations)


def _service(form: DocumentType, value: JsonObject, url: Url, items: Sequence[Layer]) -> Service:
    document = object_of(value.get("documentInfo"))
    return Service(
        kind=Kind.ARCGIS,
        version=line_of(value.get("currentVersion")),
        title=_title(form, value, url),
        abstract=text_of(value.get("serviceDescription")) or text_of(value.get("description")),
        keywords=lines(document.get("Keywords")),
        provider=line_of(document.get("Author")),
        access_constraints=line_of(value.get("copyrightText")),
        formats=lines(value.get("supportedImageFormatTypes")) or lines(value.get("supportedQueryFormats")),
        layers=tuple(items),
    )


def _title(form: DocumentType, value: JsonObject, url: Url) -> str:
    """Return the author's title of the service, else its name in the address."""
    document = object_of(value.get("documentInfo"))
    for named in (line_of(document.get("Title")), line_of(value.get("name")), line_of(value.get("mapName"))):
        if named.lower() not in _UNNAMED and not named.lower().endswith(_PROJECTS):
            return named
    parts = [unquote(part) for part in url.address.partition("?")[0][len(url.origin) :].split("/") if part]
    if form is DocumentType.FOLDER:
        is_root = not parts or parts[-1].lower() == "services"
        return url.host if is_root else f"{parts[-1]} ({url.host})"
    return parts[-2] if len(parts) > 1 else url.host


# --------------------------------------------------------------------------- items


def _entries(folder: JsonObject) -> list[Layer]:
    """Return a folder's services as `name/type`, and its folders by their names."""
    services = (
        Layer(f"{name}/{line_of(service.get('type'))}", name.rpartition("/")[2].replace("_", " "), item=Item.FOLDER)
        for service in objects(folder.get("services"))[:MAX_ITEMS]
        if (name := line_of(service.get("name")))
    )
    folders = (
        Layer(name, name, item=Item.FOLDER) for entry in list_of(folder.get("folders")) if (name := line_of(entry))
    )
    return [*services, *folders][:MAX_ITEMS]


def _contents(form: DocumentType, value: JsonObject, url: Url) -> tuple[list[Layer], tuple[str, ...]]:
    """Return a service and below it its layers and tables; images, vector tiles or a layer alone."""
    box, bounds, codes = _whole(value)
    kind = Item.FEATURE_TYPE if form is DocumentType.FEATURES else Item.LAYER
    root = Layer(
        "",
        _title(form, value, url),
        crs=_systems(value),
        box=box,
        bounds=bounds,
        item=kind,
        times=_times(value),
        scales=_whole_scales(value),
    )
    if form in (DocumentType.IMAGE, DocumentType.TILES):
        return [replace(root, name=root.title)], codes
    queryable = "query" in text_of(value.get("capabilities")).lower()
    if form is DocumentType.LAYER:
        return [replace(root, name=line_of(value.get("id")), queryable=queryable)], codes
    parts = [*objects(value.get("layers")), *objects(value.get("tables"))][:MAX_ITEMS]
    return [root, *_layers(parts, kind, queryable)], codes


def _whole(value: JsonObject) -> tuple[Polygon | None, Bounds | None, tuple[str, ...]]:
    """Return the first stated extent, in degrees if possible and as stated, with codes of deviations.

    The bounds are None without an area or a known reference system, which the service may state for all its extents."""
    bounds: Bounds | None = None
    for name in ("fullExtent", "extent", "initialExtent"):
        extent = object_of(value.get(name))
        system = object_of(extent.get("spatialReference")) or object_of(value.get("spatialReference"))
        sides = [extent.get(edge) for edge in ("xmin", "ymin", "xmax", "ymax")]
        bounds = bounds or bounds_of("".join(esri_system(system)), sides)
        if any(side is None or str(side).lower() == "nan" for side in sides):
            continue  # ArcGIS writes an empty extent so
        box, codes = in_numbered_system(_well_known(system), *sides)
        if box is not None:
            return box, bounds, codes
    return None, bounds, ()


def _times(value: JsonObject) -> Times | None:
    """Return the times of a service (`timeInfo.timeExtent`, milliseconds since 1970)."""
    ends = [number_of(end) for end in list_of(object_of(value.get("timeInfo")).get("timeExtent"))]
    known = [None if end is None or not FIRST_S <= end / 1000 <= LAST_S else end / 1000 for end in ends]
    return Times(known[0], known[1]) if len(known) == 2 and known != [None, None] else None


def _scales(part: JsonObject) -> Scales | None:
    """Return the scales of a layer; ArcGIS calls the greatest denominator `minScale`, and 0 stands for none."""
    return stated_scales(part.get("maxScale"), part.get("minScale"))


def _whole_scales(value: JsonObject) -> Scales | None:
    """Return the scales of a service: of the levels of its tiles (`tileInfo.lods`) those that it says it has."""
    stated = _scales(value)
    least, greatest = stated or (0.0, inf)
    first, last = integer_of(value.get("minLOD")), integer_of(value.get("maxLOD"), _LEVELS)
    levels = objects(object_of(value.get("tileInfo")).get("lods"))
    offered = (number_of(each.get("scale")) for each in levels if first <= integer_of(each.get("level")) <= last)
    return scales_of(scale for scale in offered if scale is not None and least <= scale <= greatest) or stated


def _systems(value: JsonObject) -> tuple[str, ...]:
    extent = object_of(value.get("extent")) or object_of(value.get("fullExtent"))
    return esri_system(object_of(value.get("spatialReference")) or object_of(extent.get("spatialReference")))


def _layers(parts: Sequence[JsonObject], kind: Item, queryable: bool) -> Iterator[Layer]:
    """Return layers below the root (index 0). A group comes before its members, so its index is already known."""
    index_of: dict[str, int] = {}
    for index, part in enumerate(parts, 1):
        name = line_of(part.get("id"))
        yield Layer(
            name=name,
            title=line_of(part.get("name")) or name,
            abstract=text_of(part.get("description")),
            parent=index_of.get(line_of(part.get("parentLayerId")), 0),
            queryable=queryable and not part.get("subLayerIds"),
            item=kind,
            scales=_scales(part),
        )
        index_of.setdefault(name, index)


# --------------------------------------------------------------------------- leads
# Folders are one level deep (ArcGIS REST API, Catalog), so only the root leads to folders, and a server that lists
# folders without end is not followed.


MAX_LEADS = 2_000
"""Most leads of one folder: large servers list some thousands of services."""
_ROOT = re.compile(r"(.{0,2000}?/rest)/services(/.*)?\Z", re.IGNORECASE)
_READABLE = frozenset({"MapServer", "ImageServer", "FeatureServer", "VectorTileServer"})
"""Types of services that have a map, an image, features or tiles; others (GPServer …) are only listed."""
_OFFERED = {"WMSServer": Kind.WMS, "WFSServer": Kind.WFS, "WCSServer": Kind.WCS}


def leads_of(value: JsonObject, url: Url) -> tuple[Candidate, ...]:
    """Return candidates that a document at `url` names, at most `MAX_LEADS`."""
    place = url.address.partition("?")[0].rstrip("/")
    root = _ROOT.match(place)
    if root is None:
        return ()
    form = type_of(value)
    if form is DocumentType.FOLDER:
        leads = _of_folder(value, root[1], is_root=not (root[2] or "").strip("/"))
    elif form is DocumentType.LAYER:
        leads = iter(((Kind.ARCGIS, place.rpartition("/")[0], ""),))
    else:
        leads = _of_service(value, place, root[1], root[2] or "")
    named = ((kind, read_url(address), anchor) for kind, address, anchor in leads)
    return tuple(lead(kind, target, url, anchor) for kind, target, anchor in islice(named, MAX_LEADS) if target)


def _of_folder(value: JsonObject, rest: str, *, is_root: bool) -> Iterator[tuple[Kind, str, str]]:
    """Yield kind, address and name of each service that can be read, then of each folder.

    Names begin with the name of the folder.
    """
    for service in objects(value.get("services")):
        name, type_ = line_of(service.get("name")), line_of(service.get("type"))
        if name and type_ in _READABLE:
            yield Kind.ARCGIS, f"{rest}/services/{name}/{type_}", name
    for folder in map(line_of, list_of(value.get("folders")) if is_root else []):
        if folder:
            yield Kind.ARCGIS, f"{rest}/services/{folder}", folder


def _of_service(value: JsonObject, place: str, rest: str, name: str) -> Iterator[tuple[Kind, str, str]]:
    """Yield the addresses of the same data: by OGC's kinds below `/services`, by Esri's below `/rest/services`."""
    extensions = lines(value.get("supportedExtensions"))
    for extension, kind in _OFFERED.items():
        if extension in extensions:
            yield kind, f"{rest[: -len('/rest')]}/services{name}/{extension}", extension
    if "FeatureServer" in extensions and place.endswith("/MapServer"):
        yield Kind.ARCGIS, f"{place[: -len('MapServer')]}FeatureServer", "FeatureServer"
    if value.get("singleFusedMapCache") is True:
        yield Kind.WMTS, f"{place}/WMTS/1.0.0/WMTSCapabilities.xml", "WMTS"


# --------------------------------------------------------------------------- interview


def interview(candidate: Candidate) -> Interview:
    """Request `f=json`, and if that is refused `f=pjson`. Two requests at most."""
    json, pjson = (with_parameters(candidate.endpoint.url, {"f": form}) for form in ("json", "pjson"))
    questions = Question(json), Question(pjson, FOR_PEOPLE | REFUSALS - {"exception"})
    answers = yield from ask(candidate, questions, partial(examine_json, read=read_arcgis))
    verdict = verdict_on(answers, candidate)
    if verdict.status is not Status.VALID:
        return verdict
    return replace(verdict, leads=leads_of(answers[-1].classification.value, answers[-1].base))


# --------------------------------------------------------------------------- content
# Check the content of an ArcGIS service: request a small image of its map or raster, one record of a layer, or a vector
# tile.
#
# An image that may be a drawn message is compared with that of the middle of the extent.
#
# Source: ArcGIS REST API: Export Map, Export Image, Query (Feature Service / Layer), Vector Tile Service. A folder has
# no content.


_EXPORTS = {"mapserver": "export", "imageserver": "exportImage"}
_TILES = "vectortileserver"


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Request the whole extent and then its middle, one record of each of a few layers, or vector tiles."""
    attempts = Attempts()
    if _ending(endpoint.url) == _TILES:
        addresses = _tiles_of((yield Ask(with_parameters(endpoint.url, {"f": "json"}), Purpose.MAP)), endpoint.url)
        if (tried := (yield from sample_addresses(addresses, judge_vector_tile))) is not None:
            attempts.add(service.title, "", tried.url, tried.answer, tried.look)
        return attempts.report(endpoint)
    requests = list(_requests(endpoint.url, service, most))
    for index, (name, code, url, size) in enumerate(requests):
        answer = yield Ask(url, Purpose.MAP)
        look = judge_image(answer, size) if size else judge_features(answer)
        if size and index + 1 < len(requests):
            look = yield from doubt(look, answer, requests[index + 1][2])
        attempts.add(name, code, url, answer, look)
        if attempts.is_enough or look[0] is ContentOutcome.IMAGE_ERROR_TEXT:
            break
    return attempts.report(endpoint)


_Request = tuple[str, str, Url, tuple[int, int] | None]
"""(name of the item, its reference system, address to request, size of the image or None for records)."""


def _requests(endpoint: Url, service: Service, most: int) -> Iterator[_Request]:
    if (operation := _operation(endpoint)) is not None:
        yield from _images(endpoint, operation, service)
    elif any(layer.item is Item.FEATURE_TYPE for layer in service.layers):
        yield from _records(endpoint, service, most)


def _operation(endpoint: Url) -> str | None:
    """Return the operation of a service that draws images; None for one that draws none."""
    return _EXPORTS.get(_ending(endpoint))


def _ending(endpoint: Url) -> str:
    """Return the type of a service, the last part of its path, in lower case."""
    return endpoint.address.partition("?")[0].rstrip("/").rpartition("/")[2].lower()


def _images(endpoint: Url, operation: str, service: Service) -> Iterator[_Request]:
    extent = next((images for layer in service.layers if (images := _extent(layer)) is not None), None)
    code, whole = extent or ("", None)
    for sides in (whole, middle_of(whole)) if whole is not None else ():
        size = image_size(sides)
        yield service.layers[0].title, code, _image(endpoint, operation, code, sides, size), size


def _image(endpoint: Url, operation: str, code: str, sides: Sides, size: tuple[int, int]) -> Url:
    """Return the request for an image of an extent in the reference system with a code."""
    number = code.rpartition(":")[2]
    query = {
        "bbox": box_text(sides),
        "bboxSR": number,
        "imageSR": number,
        "size": f"{size[0]},{size[1]}",
        "format": "png",
        "transparent": "true",
        "f": "image",
    }
    return with_parameters(below(endpoint, operation), query)


def _records(endpoint: Url, service: Service, most: int) -> Iterator[_Request]:
    for layer in spread([layer for layer in service.layers if layer.name], most):
        query = {"where": "1=1", "outFields": "*", "returnGeometry": "false", "resultRecordCount": "1", "f": "json"}
        yield layer.name, "", with_parameters(below(endpoint, f"{layer.name}/query"), query), None


_LEVELS = 40
_MANY = 2**30
"""Most tiles next to each other that a level is taken to have, whatever a document states."""


def _tiles_of(answer: Page | Failure, endpoint: Url) -> list[Url]:
    """Return addresses of vector tiles in the middle of a service's extent, each of another level of detail."""
    value = json_of(answer) or {}
    info, (_, bounds, _) = object_of(value.get("tileInfo")), _whole(value)
    x, y = (number_of(object_of(info.get("origin")).get(axis)) for axis in "xy")
    template = next(iter(lines(list_of(value.get("tiles"))[:1])), "tile/{z}/{y}/{x}.pbf")
    if bounds is None or x is None or y is None:
        return []
    levels = []
    for lod in objects(info.get("lods"))[:_LEVELS]:
        side = (number_of(lod.get("resolution")) or 0.0) * (number_of(info.get("cols")) or 0.0)
        if side > 0:
            last = [int(min(max(length / side, 0), _MANY)) for length in (bounds[3] - x, y - bounds[2])]
            tile = partial(_tile, endpoint, template, integer_of(lod.get("level")))
            levels.append(Grid(x, y, side, side, (0, last[0]), (0, last[1]), tile))
    return [level.middle(bounds[1:]) for level in sample_levels(levels, bounds[1:])]


def _tile(endpoint: Url, template: str, level: int, column: int, row: int) -> Url:
    return below(endpoint, filled(template, {"z": level, "x": column, "y": row}))


def _extent(layer: Layer) -> tuple[str, Sides] | None:
    """Return the extent as stated, which any server can draw; in degrees where the stated one is unusable."""
    if layer.bounds is not None:
        return layer.bounds[0], layer.bounds[1:]
    return ("EPSG:4326", layer.box.bounds) if layer.box is not None else None


def ask_fields(endpoint: Endpoint, service: Service, _: Attempt) -> FieldQuestion | None:
    """Ask for all layers of a service of maps or features (ArcGIS REST API, All Layers and Tables)."""
    if _ending(endpoint.url) not in ("mapserver", "featureserver"):
        return None
    return FieldQuestion(with_parameters(below(endpoint.url, "layers"), {"f": "json"}), read_esri_layers)


# --------------------------------------------------------------------------- previews


def preview(context: LayerContext) -> Picture | Features | None:
    """Show a layer of a map service, or a raster: both are drawn in any reference system, their own before another.
    Show a layer of a feature service by its features, which servers since 10.4 send as GeoJSON."""
    if context.layer.item is Item.FEATURE_TYPE:
        return Features(partial(_features_url, context)) if context.layer.queryable else None
    operation = _operation(context.url)
    if operation is None or context.layer.item is not Item.LAYER:
        return None
    only = {"layers": f"show:{context.layer.name}"} if operation == "export" else {}

    def url(view: View) -> Url:
        return with_parameters(_image(context.url, operation, view.system, view.box, view.size), only)

    is_mercator = any(map(is_web_mercator, context.layer.crs))
    return Picture((MERCATOR, DEGREES) if is_mercator else (DEGREES, MERCATOR), url)


def _features_url(context: LayerContext, box: Sides, most: int) -> Url:
    query = {
        "where": "1=1",
        "geometry": box_text(box),
        "geometryType": "esriGeometryEnvelope",
        "inSR": "4326",
        "outSR": "4326",
        "resultRecordCount": str(most),
        "f": "geojson",
    }
    return with_parameters(below(context.url, f"{context.layer.name}/query"), query)
