"""Which kind of service a JSON document is of, by the keys that only that kind has."""

from __future__ import annotations

from geocrawl.formats.json_values import JsonObject, lines, list_of, number_of, objects
from geocrawl.model import Kind
from geocrawl.probe.json.links import relations

OGC_REL = "http://www.opengis.net/def/rel/ogc/"
_SCHEMA = "$schema"
_ARCGIS_KEYS = frozenset({"serviceDescription", "mapName", "layers", "tables", "services", "folders", "geometryType"})
_ARCGIS_KEYS |= {"serviceDataType", "pixelSizeX"}


def kind_of_json(value: JsonObject) -> Kind | None:
    """The kind whose service describes itself, or a part of itself, here; None for anything else."""
    if _SCHEMA in value and "properties" in value:
        return None
    if is_stac(value):
        return Kind.STAC
    if is_arcgis(value):
        return Kind.ARCGIS
    if is_ogcapi(value):
        return Kind.OGCAPI
    return Kind.TILEJSON if is_tilejson(value) else None


def is_stac(value: JsonObject) -> bool:
    """A catalogue, a collection, the landing page of an API or its list of collections (STAC 0.6 to 1.1)."""
    if not isinstance(value.get("stac_version"), str) or value.get("type") in ("Feature", "FeatureCollection"):
        return False
    return bool(value.get("id") and isinstance(value.get("links"), list)) or isinstance(value.get("collections"), list)


def is_tilejson(value: JsonObject) -> bool:
    """A version of TileJSON, and templates of addresses for tiles (TileJSON 3.0.0, 3.1 and 3.2)."""
    version, tiles = value.get("tilejson"), value.get("tiles")
    if not isinstance(version, str) or not isinstance(tiles, list) or not tiles:
        return False
    return all(isinstance(each, str) and "{z}" in each.lower() for each in tiles)


def is_arcgis(value: JsonObject) -> bool:
    """A folder, a service or a layer of an ArcGIS Server."""
    if number_of(value.get("currentVersion")) is None:
        return False
    return not _ARCGIS_KEYS.isdisjoint(value)


def is_ogcapi(value: JsonObject) -> bool:
    """A landing page, a conformance declaration, a list of collections or a collection (OGC API Common, 19-072)."""
    return is_landing(value) or declares_conformance(value) or is_collections(value) or is_collection(value)


def is_landing(value: JsonObject) -> bool:
    """Links to what only an OGC API has (OGC 17-069r4, 7.2)."""
    found = relations(value)
    if any(rel.startswith(OGC_REL) for rel in found) and value.get("type") != "Feature":
        return True
    return "conformance" in found or {"data", "service-desc"} <= found or {"data", "service-doc"} <= found


def declares_conformance(value: JsonObject) -> bool:
    """Conformance classes of OGC API standards (OGC 17-069r4, 7.4)."""
    return any("opengis.net/spec/ogcapi" in each for each in lines(value.get("conformsTo")))


def is_collections(value: JsonObject) -> bool:
    """A list of collections, each with an identifier and links (OGC 17-069r4, 7.13)."""
    listed = value.get("collections")
    if not isinstance(listed, list) or not isinstance(value.get("links"), list):
        return False
    return all(is_member(each) for each in objects(listed)) and len(objects(listed)) == len(list_of(listed))


def is_member(value: JsonObject) -> bool:
    """A collection as it stands in the list."""
    return bool(value.get("id") or value.get("name")) and isinstance(value.get("links"), list)


def is_collection(value: JsonObject) -> bool:
    """One collection (OGC 17-069r4, 7.14): it has items, coverages, maps or queries of its own."""
    if not value.get("id") or value.get("type") in ("Feature", "FeatureCollection"):
        return False
    own = {"itemType", "data_queries", "storageCrs"} & value.keys()
    return isinstance(value.get("links"), list) and bool(own or ("extent" in value and "items" in relations(value)))
