"""Recognise pages that are services themselves: capabilities, the JSON of a folder or a landing page."""

from __future__ import annotations

from geocrawl.detect.rules import Rules
from geocrawl.model import Document, Kind

_OWS_ROOT = "capabilities"


def kind_of_document(rules: Rules, document: Document) -> Kind | None:
    """Return the kind of service that a page itself is; None for an ordinary page."""
    if document.xml_root:
        return _of_root(rules, document.xml_root.lower(), document.xml_namespace)
    if document.json_keys:
        return _of_keys(rules, document)
    return None


def _of_root(rules: Rules, root: str, namespace: str) -> Kind | None:
    if root != _OWS_ROOT:
        return rules.of_root.get(root)
    place = namespace.lower().partition("://")[2]
    return next((kind for beginning, kind in rules.of_namespace.items() if place.startswith(beginning)), None)


def _of_keys(rules: Rules, document: Document) -> Kind | None:
    keys = frozenset(document.json_keys)
    if "geometry" in keys:  # a feature, an item, a record
        return None
    for declared in rules.kinds:
        if any(needed <= keys for needed in declared.keys):
            return declared.kind
    if "links" in keys:
        relations = {link.rel.lower() for link in document.links}
        for declared in rules.kinds:
            if not declared.relations.isdisjoint(relations):
                return declared.kind
    return None
