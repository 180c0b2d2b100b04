"""List every kind of service, a line each: its folder, and the classes of its probe and of its content check.

The order of the lines decides where signs of several kinds fit an address or a document: the first kind counts. So the
kinds whose signs are special stand before those whose signs are general, and a WMS, which most addresses without any
other sign are, comes last.

Declarations are loaded without any reader; classes when they are made.
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
    """A kind, whose folder in this room has its name, and the classes in that folder."""

    kind: Kind
    probe: str
    """Class in the folder's `probe`; made without arguments."""
    content_check: str = ""
    """Class in the folder's `content`, made with `layers`; '' for a kind that is asked for no content."""

    def load(self, module: str, name: str) -> Any:
        """Return what a module of the kind's folder calls `name`."""
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
    """Return what tells each kind apart, in the order of the registry."""
    return tuple(each.load("kind", "KIND") for each in REGISTRY)


def declaration(kind: Kind) -> KindDeclaration:
    """Return what tells one kind apart."""
    return next(each for each in declarations() if each.kind is kind)


def kinds_with_content() -> frozenset[Kind]:
    """Return the kinds whose services can be asked for content."""
    return frozenset(each.kind for each in REGISTRY if each.content_check)


def probes() -> tuple[Probe, ...]:
    """Make one probe a kind."""
    return tuple(each.load("probe", each.probe)() for each in REGISTRY)


def content_checks(*, layers: int) -> tuple[ContentCheck, ...]:
    """Make one content check for each kind that has one; `layers`: items of a service tried at most."""
    return tuple(each.load("content", each.content_check)(layers=layers) for each in REGISTRY if each.content_check)
