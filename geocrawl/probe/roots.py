"""Recognise the kind of service of a document: of capabilities by their root, of JSON by its keys.

Old kinds name themselves in the root (`WFS_Capabilities`); those of OWS Common (OGC 06-121r9) all have the root
`Capabilities`, with different namespaces. In a document without namespace, the operations or the content of its
sections decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, local_name, namespace_of
from geocrawl.formats.json import JsonObject
from geocrawl.model import Kind
from geocrawl.probe.registry import declarations


@dataclass(frozen=True, slots=True)
class _Signs:
    """The signs of all kinds by which a root is recognised."""

    of_root: Mapping[str, Kind]
    of_namespace: Mapping[str, Kind]
    namespace: re.Pattern[str]
    of_operation: Mapping[str, Kind]
    of_sections: Mapping[tuple[str, ...], Kind]


@lru_cache(maxsize=1)
def _signs() -> _Signs:
    """Return the signs that all kinds declare."""
    kinds = declarations()
    of_namespace = {place.rpartition("/")[2]: each.kind for each in kinds for place in each.namespaces}
    return _Signs(
        of_root={root: each.kind for each in kinds for root in each.roots},
        of_namespace=of_namespace,
        namespace=re.compile(
            rf"\Ahttps?://www\.open(?:gis|geospatial)\.net/(?:cat/)?({'|'.join(of_namespace)})(?:/|\Z)"
        ),
        of_operation={each.operation: each.kind for each in kinds if each.operation},
        of_sections={way: each.kind for each in kinds for way in each.sections},
    )


def is_capabilities(root: etree._Element) -> bool:
    """Return whether a root is a capabilities document of any kind, known or not."""
    name = local_name(root)
    return name.endswith("Capabilities") and name != "GetCapabilities"


def kind_of_root(root: etree._Element) -> Kind | None:
    """Return the kind of service that the document describes; None for any other document."""
    name = local_name(root)
    if named := _signs().of_root.get(name.lower()):
        return named
    if name.lower() != "capabilities":
        return None
    namespace = namespace_of(root)
    if not namespace:
        return _by_operations(root) or _by_sections(root)
    found = _signs().namespace.match(namespace.lower())
    return _signs().of_namespace[found[1]] if found else None


def is_usual_namespace(namespace: str) -> bool:
    """Return whether a root's namespace is spelt as in a standard."""
    return namespace.startswith("http:") and _signs().namespace.match(namespace) is not None


def _by_operations(root: etree._Element) -> Kind | None:
    for operation in children(child(root, "OperationsMetadata"), "Operation"):
        if kind := _signs().of_operation.get(attribute(operation, "name").strip()):
            return kind
    return None


def _by_sections(root: etree._Element) -> Kind | None:
    for path, kind in _signs().of_sections.items():
        if child(root, *path) is not None:
            return kind
    return None


_SCHEMA = "$schema"


def kind_of_json(value: JsonObject) -> Kind | None:
    """Return the kind of service that the object describes, whole or in part; None for any other object."""
    if _SCHEMA in value and "properties" in value:
        return None
    for declared in declarations():
        if declared.is_document is not None and declared.is_document(value):
            return declared.kind
    return None
