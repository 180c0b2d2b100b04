"""Recognise documents of an OGC API by their keys and links."""

from __future__ import annotations

from geocrawl.formats.json import JsonObject, lines, list_of, objects
from geocrawl.probe.json.links import relations

OGC_REL = "http://www.opengis.net/def/rel/ogc/"


def is_ogcapi(value: JsonObject) -> bool:
    """Return whether an object is a document of an OGC API (Common, 19-072).

    That is a landing page, a conformance declaration, a list of collections or a collection.
    """
    return is_landing(value) or declares_conformance(value) or is_collections(value) or is_collection(value)


def is_landing(value: JsonObject) -> bool:
    """Return whether an object has links that only a landing page of an OGC API has (OGC 17-069r4, 7.2)."""
    found = relations(value)
    if any(rel.startswith(OGC_REL) for rel in found) and value.get("type") != "Feature":
        return True
    return "conformance" in found or {"data", "service-desc"} <= found or {"data", "service-doc"} <= found


def declares_conformance(value: JsonObject) -> bool:
    """Return whether an object names conformance classes of OGC API standards (OGC 17-069r4, 7.4)."""
    return any("opengis.net/spec/ogcapi" in each for each in lines(value.get("conformsTo")))


def is_collections(value: JsonObject) -> bool:
    """Return whether an object is a list of collections, each with an identifier and links (OGC 17-069r4, 7.13)."""
    listed = value.get("collections")
    if not isinstance(listed, list) or not isinstance(value.get("links"), list):
        return False
    return all(is_member(each) for each in objects(listed)) and len(objects(listed)) == len(list_of(listed))


def is_member(value: JsonObject) -> bool:
    """Return whether an object is a collection in a list of collections."""
    return bool(value.get("id") or value.get("name")) and isinstance(value.get("links"), list)


def is_collection(value: JsonObject) -> bool:
    """Return whether an object is one collection (OGC 17-069r4, 7.14): it has items, coverages, maps or queries."""
    if not value.get("id") or value.get("type") in ("Feature", "FeatureCollection"):
        return False
    own = {"itemType", "data_queries", "storageCrs"} & value.keys()
    return isinstance(value.get("links"), list) and bool(own or ("extent" in value and "items" in relations(value)))
