"""Recognise the kind of service of a JSON document."""

from __future__ import annotations

from geocrawl.formats.json import JsonObject
from geocrawl.model import Kind
from geocrawl.probe.registry import declarations

_SCHEMA = "$schema"


def kind_of_json(value: JsonObject) -> Kind | None:
    """Return the kind of service that the object describes, whole or in part; None for any other object."""
    if _SCHEMA in value and "properties" in value:
        return None
    for declared in declarations():
        if declared.is_document is not None and declared.is_document(value):
            return declared.kind
    return None
