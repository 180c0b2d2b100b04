"""List every kind of service, a line each: its folder, and the classes of its probe and of its content check.

The order of the lines decides where signs of several kinds fit an address or a document: the first kind counts. So
kinds with special signs come before those with general signs, and WMS, the kind of most addresses without any other
sign, comes last.

Loading the declarations loads no reader; a class is loaded when an object of it is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration
from geocrawl.ports import ContentCheck, Probe


@dataclass(frozen=True, slots=True)
class Registered:
    """A kind, whose folder in `probe` has the kind's name, and the classes in that folder."""

    kind: Kind
    probe: str
    """Name of the class in the folder's `probe`; its constructor has no arguments."""
    content_check: str = ""
    """Name of the class in the folder's `content`, constructed with `layers`; '' for a kind without content check."""

    def load(self, module: str, name: str) -> Any:
        """Return the object called `name` in a module of the kind's folder."""
        return getattr(import_module(f"geocrawl.probe.{self.kind}.{module}"), name)


REGISTRY = (
    Registered(Kind.WMTS, "WmtsProbe", "WmtsContentCheck"),
    Registered(Kind.WFS, "WfsProbe", "WfsContentCheck"),
    Registered(Kind.WCS, "WcsProbe"),
    Registered(Kind.CSW, "CswProbe", "CswContentCheck"),
    Registered(Kind.WPS, "WpsProbe"),
    Registered(Kind.SOS, "SosProbe"),
    Registered(Kind.TMS, "TmsProbe", "TmsContentCheck"),
    Registered(Kind.ARCGIS, "ArcGisProbe", "ArcGisContentCheck"),
    Registered(Kind.STAC, "StacProbe", "StacContentCheck"),
    Registered(Kind.OGCAPI, "OgcApiProbe", "OgcApiContentCheck"),
    Registered(Kind.TILEJSON, "TileJsonProbe"),
    Registered(Kind.WMSC, "WmscProbe"),
    Registered(Kind.WMS, "WmsProbe", "WmsContentCheck"),
)


@lru_cache(maxsize=1)
def declarations() -> tuple[KindDeclaration, ...]:
    """Return the declarations of all kinds, in the order of the registry."""
    return tuple(each.load("kind", "KIND") for each in REGISTRY)


def declaration(kind: Kind) -> KindDeclaration:
    """Return the declaration of one kind."""
    return next(each for each in declarations() if each.kind is kind)


def kinds_with_content() -> frozenset[Kind]:
    """Return the kinds that have a content check."""
    return frozenset(each.kind for each in REGISTRY if each.content_check)


def probes() -> tuple[Probe, ...]:
    """Make one probe for each kind."""
    return tuple(each.load("probe", each.probe)() for each in REGISTRY)


def content_checks(*, layers: int) -> tuple[ContentCheck, ...]:
    """Make one content check for each kind that has one; `layers`: items of a service tried at most."""
    return tuple(each.load("content", each.content_check)(layers=layers) for each in REGISTRY if each.content_check)
