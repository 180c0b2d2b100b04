"""Make the documents of services that are asked by path: TMS, TileJSON, ArcGIS REST, OGC API, STAC, SensorThings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape, quoteattr

from geocrawl.demo.ows_documents import HALF_M, CapabilitiesContents, mercator, shrunk

_LEVELS = 13
_CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"


def tms_document(described: CapabilitiesContents, below: str) -> str | None:
    """Return the list of maps, or the document of the map that `below` names (OSGeo TMS 1.0.0); None for others."""
    base = described.address.rstrip("/")
    if not below:
        maps = "".join(
            f'<TileMap title={quoteattr(title)} srs="EPSG:3857" profile="mercator" href="{base}/{name}"/>'
            for name, title in described.layers
        )
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<TileMapService version="1.0.0"><Title>{escape(described.title)}'
            f"</Title><Abstract>{escape(described.abstract)}</Abstract><TileMaps>{maps}</TileMaps></TileMapService>\n"
        )
    title = dict(described.layers).get(below)
    if title is None:
        return None
    west, south, east, north = mercator(described.box)
    sets = "".join(
        f'<TileSet href="{base}/{below}/{level}" units-per-pixel="{2 * HALF_M / 256 / 2**level}" order="{level}"/>'
        for level in range(_LEVELS)
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<TileMap version="1.0.0" tilemapservice="{base}/"><Title>'
        f"{escape(title)}</Title><Abstract/><SRS>EPSG:3857</SRS>"
        f'<BoundingBox minx="{west}" miny="{south}" maxx="{east}" maxy="{north}"/><Origin x="{-HALF_M}" y="{-HALF_M}"/>'
        '<TileFormat width="256" height="256" mime-type="image/png" extension="png"/>'
        f'<TileSets profile="mercator">{sets}</TileSets></TileMap>\n'
    )


def tilejson_document(described: CapabilitiesContents, _: str) -> object:
    """Return a TileJSON 3.0 of vector tiles."""
    return {
        "tilejson": "3.0.0",
        "name": described.title,
        "description": described.abstract,
        "attribution": f"{described.provider}, {described.licence}",
        "tiles": [described.address.rpartition("/")[0] + "/{z}/{x}/{y}.pbf"],
        "bounds": list(described.box),
        "minzoom": 0,
        "maxzoom": _LEVELS - 1,
        "vector_layers": [{"id": name, "description": title, "fields": {}} for name, title in described.layers],
    }


def vector_tile(described: CapabilitiesContents) -> bytes:
    """Return a tile with a point in each layer (Mapbox Vector Tile Specification 2.1, 4)."""
    return b"".join(_field(3, _layer(name)) for name, _ in described.layers)


def _layer(name: str) -> bytes:
    point = _field(4, bytes((9, 50, 34)))  # MoveTo, 25 to the right, 17 down (4.3)
    return b"\x78\x02" + _field(1, name.encode()) + _field(2, b"\x18\x01" + point)


def _field(number: int, value: bytes) -> bytes:
    """Return a field of protobuf with its length, which is below 128 here."""
    return bytes((number << 3 | 2, len(value))) + value


def arcgis_document(described: CapabilitiesContents, below: str) -> object | None:
    """Return the resource of a MapServer or of a layer; None for its other resources."""
    west, south, east, north = described.box
    reference = {"wkid": 4326, "latestWkid": 4326}
    extent = {"xmin": west, "ymin": south, "xmax": east, "ymax": north, "spatialReference": reference}
    if below.isdecimal() and int(below) < len(described.layers):
        title = described.layers[int(below)][1]
        return {"currentVersion": 11.1, "id": int(below), "name": title, "type": "Feature Layer", "extent": extent}
    if below:
        return None
    return {
        "currentVersion": 11.1,
        "mapName": "Layers",
        "serviceDescription": described.abstract,
        "copyrightText": f"{described.provider}, {described.licence}",
        "capabilities": "Map,Query,Data",
        "layers": [{"id": n, "name": title, "parentLayerId": -1} for n, (_, title) in enumerate(described.layers)],
        "tables": [],
        "spatialReference": reference,
        "fullExtent": extent,
        "supportedImageFormatTypes": "PNG32,PNG24,JPG",
        "documentInfo": {
            "Title": described.title,
            "Author": described.provider,
            "Keywords": ", ".join(described.keywords),
        },
    }


def ogcapi_document(described: CapabilitiesContents, below: str) -> object | None:
    """Return a resource of OGC API - Features (OGC 17-069r4): landing page, conformance, collections, items."""
    base = described.address.rstrip("/")
    collections = [_collection(described, number, base) for number in range(len(described.layers))]
    part, _, rest = below.partition("/")
    if not part:
        links = _links(base, {"self": "", "conformance": "/conformance", "data": "/collections"})
        return {**_about(described), "attribution": described.provider, "links": links}
    if part == "conformance":
        features = "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf"
        return {"conformsTo": [f"{features}/core", f"{features}/geojson"]}
    if part != "collections":
        return None
    if not rest:
        return {"links": _links(base, {"self": "/collections"}), "collections": collections}
    name, _, items = rest.partition("/")
    found = next((collection for collection in collections if collection["id"] == name), None)
    return found if found is None or not items else _features(described)


def _about(described: CapabilitiesContents) -> dict[str, object]:
    return {
        "title": described.title,
        "description": described.abstract,
        "keywords": list(described.keywords),
        "provider": {"name": described.provider},
        "license": described.licence,
    }


def _collection(described: CapabilitiesContents, number: int, base: str) -> dict[str, object]:
    name, title = described.layers[number]
    codes = (system.partition(":")[2] for system in described.systems)
    return {
        "id": name,
        "title": title,
        "description": f"{title}. {described.abstract}",
        "extent": {"spatial": {"bbox": [list(shrunk(described.box, number))], "crs": _CRS84}},
        "crs": [_CRS84, *(f"http://www.opengis.net/def/crs/EPSG/0/{code}" for code in codes)],
        "itemType": "feature",
        "links": [
            {"rel": "items", "type": "application/geo+json", "href": f"{base}/collections/{name}/items", "title": title}
        ],
    }


def _features(described: CapabilitiesContents, **more: object) -> object:
    west, south, east, north = described.box
    point = {"type": "Point", "coordinates": [round((west + east) / 2, 4), round((south + north) / 2, 4)]}
    feature = {"type": "Feature", "id": "1", "geometry": point, "properties": {"name": described.title}, **more}
    return {"type": "FeatureCollection", "features": [feature], "numberMatched": 1, "numberReturned": 1, "links": []}


def stac_document(described: CapabilitiesContents, below: str) -> object | None:
    """Return a resource of a STAC API 1.0: landing page, collections, search."""
    base = described.address.rstrip("/")
    if not below:
        api = "https://api.stacspec.org/v1.0.0"
        paths = {"self": "", "root": "", "data": "/collections", "search": "/search"}
        return {
            "type": "Catalog",
            "stac_version": "1.0.0",
            "id": "images",
            **_about(described),
            "providers": [{"name": described.provider}],
            "conformsTo": [f"{api}/core", f"{api}/collections", f"{api}/item-search"],
            "links": _links(base, paths),
        }
    if below == "collections":
        listed = [_stac_collection(described, number, base) for number in range(len(described.layers))]
        return {"collections": listed, "links": _links(base, {"self": "/collections"})}
    item = {"stac_version": "1.0.0", "collection": described.layers[0][0], "assets": {}, "links": []}
    return _features(described, **item) if below == "search" else None


def _stac_collection(described: CapabilitiesContents, number: int, base: str) -> dict[str, object]:
    name, title = described.layers[number]
    times = [["2016-01-01T00:00:00Z", None]]
    return {
        "type": "Collection",
        "stac_version": "1.0.0",
        "id": name,
        "title": title,
        "description": f"{title}. {described.abstract}",
        "license": described.licence,
        "extent": {"spatial": {"bbox": [list(shrunk(described.box, number))]}, "temporal": {"interval": times}},
        "item_assets": {"visual": {"type": "image/tiff; application=geotiff; profile=cloud-optimized"}},
        "links": _links(base, {"items": f"/collections/{name}/items"}),
    }


def _links(base: str, paths: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"rel": rel, "type": "application/json", "href": base + path} for rel, path in paths.items()]


def sensorthings_document(described: CapabilitiesContents, below: str) -> object | None:
    """Return a resource of SensorThings 1.1 (OGC 18-088): the entity sets, or the data streams."""
    base = described.address.rstrip("/")
    if not below:
        names = ("Things", "Locations", "Sensors", "Datastreams", "ObservedProperties", "Observations")
        listed = [{"name": name, "url": f"{base}/{name}"} for name in names]
        conformance = ["http://www.opengis.net/spec/iot_sensing/1.1/req/datamodel"]
        return {"value": listed, "serverSettings": {"conformance": conformance}}
    if below == "Datastreams":
        return {
            "value": [{"name": title, "description": f"{title}. {described.abstract}"} for _, title in described.layers]
        }
    return None


BY_PATH: Mapping[str, Callable[[CapabilitiesContents, str], object | None]] = {
    "tms": tms_document,
    "tilejson": tilejson_document,
    "arcgis": arcgis_document,
    "ogcapi": ogcapi_document,
    "stac": stac_document,
    "sensorthings": sensorthings_document,
}
"""Kind → maker of the document at a path below the service's."""


def as_json(value: object) -> bytes:
    """Return a document in UTF-8."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"
