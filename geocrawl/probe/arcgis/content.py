"""Check the content of an ArcGIS service: request a small image of its map or raster, or one record of a layer.

An image that may be a drawn message is compared with that of the middle of the extent.

Source: ArcGIS REST API: Export Map, Export Image, Query (Feature Service / Layer). A folder has no content.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from geocrawl.model import ContentOutcome, Endpoint, Item, Kind, Layer, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.attempts import Attempts, spread
from geocrawl.probe.content.judge import doubt, judge_features, judge_image
from geocrawl.urls import read_url, with_parameters

_PIXELS = 256
_LEAST_PIXELS = 32
_MIDDLE = 1 / 8
"""Side of the middle part, which is requested second, as a share of the extent's side."""
_EXPORTS = {"mapserver": "export", "imageserver": "exportImage"}


@dataclass(frozen=True, slots=True)
class _Extent:
    code: str
    sides: tuple[float, float, float, float]

    def middle(self) -> _Extent:
        west, south, east, north = self.sides
        x, y = (west + east) / 2, (south + north) / 2
        across, up = (east - west) * _MIDDLE / 2, (north - south) * _MIDDLE / 2
        return _Extent(self.code, (x - across, y - up, x + across, y + up))

    def size(self) -> tuple[int, int]:
        """Return width and height in pixels, the longer 256."""
        west, south, east, north = self.sides
        longest = max(east - west, north - south)
        across, up = (east - west) / longest, (north - south) / longest
        return max(_LEAST_PIXELS, round(_PIXELS * across)), max(_LEAST_PIXELS, round(_PIXELS * up))


class ArcGisContentCheck:
    """Checks ArcGIS services for content by an image or a record (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 3) -> None:
        """Try at most `layers` feature layers of a service."""
        self._layers = layers

    @property
    def kind(self) -> Kind:
        return Kind.ARCGIS

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request the whole extent and then its middle, or one record of each of a few layers."""
        attempts = Attempts()
        requests = list(_requests(endpoint.url, service, self._layers))
        for index, (name, code, url, size) in enumerate(requests):
            answer = yield Ask(url, Purpose.MAP)
            look = judge_image(answer, size) if size else judge_features(answer)
            if size and index + 1 < len(requests):
                look = yield from doubt(look, answer, requests[index + 1][2])
            attempts.add(name, code, url, answer, look)
            if attempts.is_enough or look[0] is ContentOutcome.IMAGE_ERROR_TEXT:
                break
        return attempts.report(endpoint)


_Request = tuple[str, str, Url, tuple[int, int] | None]
"""(name of the item, its reference system, address to request, size of the image or None for records)."""


def _requests(endpoint: Url, service: Service, most: int) -> Iterator[_Request]:
    place = endpoint.address.partition("?")[0].rstrip("/")
    operation = _EXPORTS.get(place.rpartition("/")[2].lower())
    if operation is not None:
        yield from _images(endpoint, operation, service)
    elif any(layer.item is Item.FEATURE_TYPE for layer in service.layers):
        yield from _records(endpoint, service, most)


def _images(endpoint: Url, operation: str, service: Service) -> Iterator[_Request]:
    extent = next((found for layer in service.layers if (found := _extent(layer)) is not None), None)
    for place in (extent, extent.middle()) if extent is not None else ():
        number, size = place.code.rpartition(":")[2], place.size()
        asked = {
            "bbox": ",".join(f"{side:.9g}" for side in place.sides),
            "bboxSR": number,
            "imageSR": number,
            "size": f"{size[0]},{size[1]}",
            "format": "png",
            "transparent": "true",
            "f": "image",
        }
        yield service.layers[0].title, place.code, with_parameters(_beneath(endpoint, operation), asked), size


def _records(endpoint: Url, service: Service, most: int) -> Iterator[_Request]:
    for layer in spread([layer for layer in service.layers if layer.name], most):
        asked = {"where": "1=1", "outFields": "*", "returnGeometry": "false", "resultRecordCount": "1", "f": "json"}
        yield layer.name, "", with_parameters(_beneath(endpoint, f"{layer.name}/query"), asked), None


def _extent(layer: Layer) -> _Extent | None:
    """Return the extent as stated, which any server can draw; in degrees where the stated one is unusable."""
    if layer.bounds is not None:
        return _Extent(layer.bounds[0], layer.bounds[1:])
    return _Extent("EPSG:4326", layer.box.bounds) if layer.box is not None else None


def _beneath(endpoint: Url, path: str) -> Url:
    place, mark, query = endpoint.address.partition("?")
    return read_url(f"{place.rstrip('/')}/{path}{mark}{query}") or endpoint
