"""Documents that are services themselves: capabilities read as a page, the JSON of a folder or a landing page."""

from __future__ import annotations

from geocrawl.detect.kinds import KINDS, kind_index
from geocrawl.model import Document, Kind

_PLAIN_ROOT = "capabilities"


def kind_of_document(document: Document) -> Kind | None:
    """The kind of service that a page itself is; None for an ordinary one."""
    if document.xml_root:
        return _of_root(document.xml_root.lower(), document.xml_namespace)
    if document.json_keys:
        return _of_keys(document)
    return None


def _of_root(root: str, namespace: str) -> Kind | None:
    if root != _PLAIN_ROOT:
        return kind_index().of_root.get(root)
    place = namespace.lower().partition("://")[2]
    for rule in KINDS:
        if place.startswith(rule.namespaces):
            return rule.kind
    return None


def _of_keys(document: Document) -> Kind | None:
    keys = frozenset(document.json_keys)
    if "geometry" in keys:  # a feature, an item, a record
        return None
    for rule in KINDS:
        if any(needed <= keys for needed in rule.keys):
            return rule.kind
    if "links" in keys:
        relations = {link.rel.lower() for link in document.links}
        for rule in KINDS:
            if not rule.rels.isdisjoint(relations):
                return rule.kind
    return None
