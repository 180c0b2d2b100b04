"""Read the fields of features from what services say of them: names, types and aliases.

A service that delivered content is asked once more: a WFS for the schema of some types, an ArcGIS service for all its
layers, an OGC API for the queryables of a collection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from lxml import etree

from geocrawl.formats.json import JsonObject, line_of, object_of, objects
from geocrawl.formats.xml import attribute, children, local_name, read_xml
from geocrawl.model import Field, Page
from geocrawl.ports import Fields
from geocrawl.probe.json_answers import json_of
from geocrawl.sanitize import plain

MOST_TYPES = 25
"""Most types whose schema is asked for."""
_MOST_LAYERS = 500
_MOST_FIELDS = 300
"""Most fields of a layer that are kept."""
_CHARS = 100
_PREFIX = re.compile(r"^(?:.*[:#/]|esriFieldType)")
_PROPERTY = re.compile(r"PropertyType$|Type$")


def read_schema(names: Iterable[str], page: Page) -> Fields:
    """Return the fields of feature types with these names by an XML Schema (WFS 2.0, 9.3): the elements of the type of
    each global element, without those that its base type adds."""
    root = read_xml(page.body, page.content_type).root
    if root is None or local_name(root) != "schema":
        return {}
    types = {attribute(each, "name"): each for each in children(root, "complexType")}
    elements = {attribute(each, "name"): each for each in children(root, "element")}
    found = {}
    for name in names:
        element = elements.get(name.rpartition(":")[2])
        if element is None:
            continue
        of_type = types.get(attribute(element, "type").rpartition(":")[2])
        stated = (each for each in (element if of_type is None else of_type).iter("{*}element") if each is not element)
        if fields := _kept(Field(*_of_element(each)) for each in stated):
            found[name] = fields
    return found


def _of_element(element: etree._Element) -> tuple[str, str, str]:
    """Return name, type and documentation of an element of a schema."""
    name = attribute(element, "name") or attribute(element, "ref").rpartition(":")[2]
    base = next((attribute(each, "base") for each in element.iter("{*}restriction", "{*}extension")), "")
    said = next((each.text or "" for each in element.iter("{*}documentation")), "")
    return name, attribute(element, "type") or base, said


def read_esri_layers(page: Page) -> Fields:
    """Return the fields of the layers and tables of an ArcGIS service (ArcGIS REST API, All Layers and Tables)."""
    value = json_of(page) or {}
    parts = [*objects(value.get("layers")), *objects(value.get("tables"))][:_MOST_LAYERS]
    stated = {line_of(part.get("id")): _kept(_of_esri(part)) for part in parts}
    return {name: fields for name, fields in stated.items() if fields}


def _of_esri(part: JsonObject) -> Iterator[Field]:
    for field in objects(part.get("fields")):
        yield Field(*(line_of(field.get(name)) for name in ("name", "type", "alias")))


def read_queryables(collection: str, page: Page) -> Fields:
    """Return the properties of a collection's queryables (OGC 19-079r2, 6.2), a JSON schema."""
    properties = object_of((json_of(page) or {}).get("properties"))
    stated = ((name, object_of(each)) for name, each in properties.items())
    fields = _kept(
        Field(
            name,
            line_of(each.get("format")) or line_of(each.get("type")) or _geometry(each),
            line_of(each.get("title")),
        )
        for name, each in stated
    )
    return {collection: fields} if fields else {}


def _geometry(schema: JsonObject) -> str:
    """Return `geometry` for a property whose schema is one of GeoJSON's; '' for another."""
    return "geometry" if "geojson" in line_of(schema.get("$ref")).lower() else ""


def _kept(stated: Iterable[Field]) -> tuple[Field, ...]:
    """Return fields with a name, each once, with short texts: types without prefixes (`xsd:string` and
    `esriFieldTypeString` are `string`), and aliases that differ from the name."""
    found = dict[str, Field]()
    for field in islice(stated, 10 * _MOST_FIELDS):
        name, alias = plain(field.name, _CHARS), plain(field.alias, _CHARS)
        if name and name not in found and len(found) < _MOST_FIELDS:
            of_type = _PROPERTY.sub("", _PREFIX.sub("", field.type.strip())).lower()
            found[name] = Field(name, plain(of_type, _CHARS), "" if alias.casefold() == name.casefold() else alias)
    return tuple(found.values())
