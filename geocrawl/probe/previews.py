"""Say how a browser can show a layer: as a picture that its service draws, of tiles, or by its features.

A kind whose layers can be shown has a function `preview` in its module: it is given a layer and returns one of these,
or None for a layer that cannot be shown. No request is made until one is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from geocrawl.model import Failure, Item, Layer, Page, Service, Url
from geocrawl.ports import Ask
from geocrawl.probe.extents import Sides, is_geographic, is_web_mercator
from geocrawl.probe.levels import Level

DEGREES, MERCATOR = "EPSG:4326", "EPSG:3857"
"""The reference systems of the maps on which layers are shown."""


@dataclass(frozen=True, slots=True)
class LayerContext:
    """A layer of a service, as the catalogue knows both."""

    url: Url
    """Endpoint."""
    service: Service
    """Without its layers."""
    layer: Layer
    """With the reference systems of the groups above it."""
    extent: Sides | None
    """Its own extent in degrees, if the service states one."""
    checks: Mapping[str, Url]
    """First request of the last content check with each outcome (`ContentOutcome`)."""


@dataclass(frozen=True, slots=True)
class View:
    """The part of a map that is looked at."""

    box: Sides
    """In the map's reference system, x first."""
    system: str
    """DEGREES or MERCATOR."""
    size: tuple[int, int]
    """Width and height in pixels."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A layer that its service draws."""

    systems: tuple[str, ...]
    """Reference systems of maps (DEGREES, MERCATOR) in which the layer can be shown, the first choice first."""
    url: Callable[[View], Url]
    legend: Callable[[], Url] | None = None
    info: Callable[[View, int, int], Url] | None = None
    """View, x and y of a pixel → the request for what is there."""


Levels = Generator[Ask, Page | Failure, Sequence[Level] | str]
"""The requests for what describes tiles; their levels, or in words why the service has no tiles."""
VECTOR_TILES = "the service sends vector tiles, which have no picture of their own"


@dataclass(frozen=True, slots=True)
class Tiles:
    """A layer that comes in pictures of fixed places; those in the view are put together."""

    systems: tuple[str, ...]
    """As in `Picture`."""
    levels: Callable[[View], Levels]


@dataclass(frozen=True, slots=True)
class Features:
    """A layer whose features the browser draws."""

    url: Callable[[Sides, int], Url]
    """Box in degrees, number → the request for so many features."""
    systems: tuple[str, ...] = (DEGREES,)
    """As in `Picture`."""


Preview = Picture | Tiles | Features
PreviewOf = Callable[[LayerContext], Preview | None]
"""A layer → how it is shown; None for one that cannot be."""


def by_tiles(context: LayerContext, levels: Callable[[LayerContext, View], Levels]) -> Tiles | None:
    """Return how a layer is shown by tiles in the reference systems that it states; None when a map has neither.

    Web Mercator comes first: nearly all tiles are made for it."""
    offered = ((MERCATOR, is_web_mercator), (DEGREES, is_geographic))
    systems = tuple(system for system, fits in offered if any(map(fits, context.layer.crs)))
    return Tiles(systems, partial(levels, context)) if systems and context.layer.item is Item.LAYER else None


def is_in(code: str, system: str) -> bool:
    """Return whether a reference system, in any spelling, is that of a map."""
    return is_web_mercator(code) if system == MERCATOR else is_geographic(code)
