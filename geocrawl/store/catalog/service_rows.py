"""Make rows of the tables `service` and `layer` of a description: lists as JSON, extents as four sides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from geocrawl.model import Layer, Service
from geocrawl.sanitize import masked

Box = tuple[float | None, float | None, float | None, float | None]
_SIDES = ("west", "south", "east", "north")
_Described = TypeVar("_Described", Service, Layer)
_NO_BOX: Box = (None, None, None, None)


_TEXTS = ("title", "abstract", "provider", "fees", "access_constraints")
_TEXTS_OF_LAYER = ("title", "abstract")


def without_secrets(service: Service) -> Service:
    """Return a description without the keys and passwords of addresses in its running texts.

    A text is published as it is stored, and no request needs it. `online_resource` stays whole.
    """
    layers = tuple(_changed(layer, _TEXTS_OF_LAYER) for layer in service.layers)
    if any(new is not old for new, old in zip(layers, service.layers, strict=True)):
        service = replace(service, layers=layers)
    return _changed(service, _TEXTS)


def _changed(described: _Described, names: tuple[str, ...]) -> _Described:
    """Return a value of a dataclass with the secrets in these texts masked: the same one when there are none."""
    texts: dict[str, Any] = {name: masked(text) for name in names if masked(text := getattr(described, name)) != text}
    keywords = tuple(map(masked, described.keywords))
    if keywords != described.keywords:
        texts["keywords"] = keywords
    return replace(described, **texts) if texts else described


def service_row(service: Service, site: str, at: float) -> Mapping[str, object]:
    """Return the columns of `service` that a description decides; `site`: of the endpoint, `at`: when it was read."""
    return {
        "kind": service.kind,
        "fingerprint": service.fingerprint,
        "site": site,
        "title": service.title,
        "abstract": service.abstract,
        "keywords": _json(service.keywords),
        "provider": service.provider,
        "contact": json.dumps(dict(service.contact), ensure_ascii=False),
        "fees": service.fees,
        "access_constraints": service.access_constraints,
        "version": service.version,
        "formats": _json(service.formats),
        "online_resource": service.online_resource,
        "masked_online_resource": masked(service.online_resource),
        "layer_count": sum(1 for layer in service.layers if layer.name),
        "last_ok": at,
        **dict(zip(_SIDES, _union(_box(layer) for layer in service.layers), strict=True)),
    }


def layer_row(layer: Layer) -> Mapping[str, object]:
    """Return the columns of `layer` that a description decides: all but the service and the position in it."""
    return {
        "parent": layer.parent,
        "name": layer.name,
        "title": layer.title,
        "abstract": layer.abstract,
        "crs": _json(layer.crs),
        "styles": _json(layer.styles),
        "keywords": _json(layer.keywords),
        "queryable": int(layer.queryable),
        "item": layer.item,
        "formats": _json(layer.formats),
        **dict(zip(_SIDES, _box(layer), strict=True)),
    }


def _box(layer: Layer) -> Box:
    """Return west, south, east, north of a layer's own extent, degrees."""
    if layer.box is None or layer.box.is_empty:
        return _NO_BOX
    west, south, east, north = layer.box.bounds
    return (west, south, east, north)


def _union(boxes: Iterable[Box]) -> Box:
    """Return the box around all boxes that are known."""
    known = [box for box in boxes if box[0] is not None]
    if not known:
        return _NO_BOX
    west, south, east, north = zip(*known, strict=True)
    return (min(west), min(south), max(east), max(north))


@lru_cache(maxsize=16)  # layers that follow each other mostly have the same lists, or none
def _json(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False)
