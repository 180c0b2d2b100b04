"""Check the content of an OGC API: request one feature or record of a collection, or a map if it has no items.

The standards define the paths of both: `/collections/{id}/items` (OGC 17-069r4, 7.15) and `/collections/{id}/map`
(OGC 20-058, 7). A map that may be a drawn message is compared with a part of it.
"""

from __future__ import annotations

from urllib.parse import quote

from geocrawl.model import Endpoint, Item, Kind, Layer, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.attempts import Attempts, spread
from geocrawl.probe.content.judge import doubt, judge_features, judge_image
from geocrawl.urls import read_url, with_parameters

_PIXELS = 256
_MIDDLE = 1 / 8
"""Side of the middle part as a share of the extent's side."""


class OgcApiContentCheck:
    """Checks OGC APIs for content by one item (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 3) -> None:
        """Try at most `layers` collections of a service."""
        self._layers = layers

    @property
    def kind(self) -> Kind:
        return Kind.OGCAPI

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request content of one collection after another until some is delivered."""
        attempts = Attempts()
        for layer in choose(service, self._layers):
            is_map = not _has_items(layer)
            url = _content_url(endpoint.url, layer.name, is_map=is_map)
            answer = yield Ask(url, Purpose.MAP)
            look = judge_image(answer, (_PIXELS, _PIXELS)) if is_map else judge_features(answer)
            if is_map:
                look = yield from doubt(look, answer, _middle(url, layer))
            attempts.add(layer.name, "", url, answer, look)
            if attempts.is_enough:
                break
        return attempts.report(endpoint)


def choose(service: Service, most: int) -> tuple[Layer, ...]:
    """Return at most `most` collections with items, or if there are none, with maps."""
    named = [layer for layer in service.layers if layer.name and layer.item is Item.COLLECTION]
    with_items = [layer for layer in named if _has_items(layer)]
    return spread(with_items or [layer for layer in named if _has_map(layer)], most)


def _has_items(layer: Layer) -> bool:
    """Return whether a collection may have items: by the standard also one that does not state its formats."""
    return not layer.formats or any("geo+json" in name for name in layer.formats)


def _has_map(layer: Layer) -> bool:
    return any(name.startswith("image/") for name in layer.formats)


def _content_url(endpoint: Url, name: str, *, is_map: bool) -> Url:
    asked = {"width": str(_PIXELS), "height": str(_PIXELS), "f": "png"} if is_map else {"limit": "1", "f": "json"}
    place, mark, query = endpoint.address.partition("?")
    path = f"{place.rstrip('/')}/collections/{quote(name, safe='')}/{'map' if is_map else 'items'}"
    return with_parameters(read_url(path + mark + query) or endpoint, asked)


def _middle(url: Url, layer: Layer) -> Url | None:
    """Return the request for the middle of a map (OGC 20-058, 8, `bbox`); None when its extent is not known."""
    if layer.box is None or layer.box.is_empty:
        return None
    west, south, east, north = layer.box.bounds
    x, y = (west + east) / 2, (south + north) / 2
    across, up = (east - west) * _MIDDLE / 2, (north - south) * _MIDDLE / 2
    return with_parameters(url, {"bbox": ",".join(f"{side:.9g}" for side in (x - across, y - up, x + across, y + up))})
