"""List every kind of service, a line each; its module in `kinds` has the kind's name.

The order of the lines decides where signs of several kinds fit an address or a document: the first kind counts. So
kinds with special signs come before those with general signs, and WMS, the kind of most addresses without any other
sign, comes last.

Modules are imported when a function is called, because they import what recognises documents of all kinds.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from geocrawl.model import Kind
from geocrawl.model.declarations import KindDeclaration
from geocrawl.model.kinds import stored_kind
from geocrawl.ports import ContentCheck, Probe
from geocrawl.probe.previews import PreviewOf

REGISTRY = (
    Kind.WMTS,
    Kind.WFS,
    Kind.WCS,
    Kind.CSW,
    Kind.WPS,
    Kind.SOS,
    Kind.SPS,
    Kind.TMS,
    Kind.ARCGIS,
    Kind.STAC,
    Kind.SENSORTHINGS,
    Kind.OGCAPI,
    Kind.TILEJSON,
    Kind.WMSC,
    Kind.WMS,
)


@lru_cache(maxsize=1)
def declarations() -> tuple[KindDeclaration, ...]:
    """Return the declarations of all kinds, in the order of the registry."""
    return tuple(_module(kind).KIND for kind in REGISTRY)


def declaration(kind: Kind) -> KindDeclaration:
    """Return the declaration of one kind."""
    found: KindDeclaration = _module(kind).KIND
    return found


@cache
def declared(kind: str) -> KindDeclaration:
    """Return the declaration of a kind by its name in the catalogue; one without properties for an unknown name."""
    return declaration(Kind(kind)) if kind in REGISTRY else KindDeclaration(kind=stored_kind(kind), name=kind, proof="")


def kinds_with_content() -> frozenset[Kind]:
    """Return the kinds that have a content check."""
    return frozenset(kind for kind in REGISTRY if hasattr(_module(kind), "CONTENT_CHECK"))


def probes() -> tuple[Probe, ...]:
    """Return one probe for each kind."""
    return tuple(_module(kind).PROBE for kind in REGISTRY)


def content_checks(*, layers: int) -> tuple[ContentCheck, ...]:
    """Make one content check for each kind that has one; `layers`: items of a service tried at most."""
    return tuple(_module(kind).CONTENT_CHECK(layers=layers) for kind in REGISTRY if kind in kinds_with_content())


def preview_of(kind: str) -> PreviewOf | None:
    """Return what says how a layer of a kind is shown, by the kind's name in the catalogue; None for one not shown."""
    found: PreviewOf | None = getattr(_module(Kind(kind)), "PREVIEW", None) if kind in REGISTRY else None
    return found


def _module(kind: Kind) -> Any:
    return import_module(f"geocrawl.probe.kinds.{kind}")
