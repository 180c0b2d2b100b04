"""Show a layer of a WMS: GetMap, GetLegendGraphic (SLD profile, OGC 05-078r4, 12), GetFeatureInfo (WMS 1.3.0, 7.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geocrawl.model import ContentOutcome, Url
from geocrawl.probe.interview import named_for
from geocrawl.probe.kinds.wms.maps import Manner, Maps, Target
from geocrawl.probe.previews import DEGREES, MERCATOR, LayerContext, Picture, View
from geocrawl.urls import request_url, with_parameters

_CODES = {DEGREES: ("EPSG:4326", "CRS:84"), MERCATOR: ("EPSG:3857", "EPSG:900913", "EPSG:102100")}
"""The names that servers give a map's reference system."""


def preview(context: LayerContext) -> Picture | None:
    """Show a layer as the content check asks for it, of the size that is wanted."""
    # Most servers transform into degrees, also where they state no reference system.
    stated = context.layer.crs or ("EPSG:4326",)
    codes = {system: code for system, same in _CODES.items() if (code := next(filter(stated.__contains__, same), ""))}
    if not codes:
        return None
    version = context.service.version or "1.1.1"
    map_ = _Map(replace(context, service=replace(context.service, version=version)), codes)
    return Picture(tuple(codes), map_.url, map_.legend, map_.info if context.layer.queryable else None)


@dataclass(frozen=True, slots=True)
class _Map:
    """Requests about one layer."""

    context: LayerContext
    codes: dict[str, str]
    """Reference system of a map → the layer's name for it."""

    @property
    def is_new(self) -> bool:
        """Return whether the service has the names of 1.3.0."""
        return self.context.service.version.startswith("1.3")

    def url(self, view: View) -> Url:
        """Return the request for the picture of a view."""
        context, code = self.context, self.codes[view.system]
        if code == "CRS:84" and not self.is_new:
            code = "EPSG:4326"
        maps = Maps(context.url, context.service)
        target = Target(context.layer.name, code, view.box, latitude_first=code == "EPSG:4326")
        manner = Manner(context.url, maps.formats[0], swapped=ContentOutcome.AXIS_ORDER in context.checks)
        width, height = map(str, view.size)
        return with_parameters(maps.url(target, manner), {"WIDTH": width, "HEIGHT": height})

    def legend(self) -> Url:
        """Return the request for the legend."""
        query = {
            "SERVICE": "WMS",
            "VERSION": self.context.service.version,
            "REQUEST": "GetLegendGraphic",
            "LAYER": self.context.layer.name,
            "FORMAT": "image/png",
            **({"SLD_VERSION": "1.1.0"} if self.is_new else {}),
        }
        return request_url(self.context.url, query)

    def info(self, view: View, x: int, y: int) -> Url:
        """Return the request for what is at a pixel of a view."""
        query = {
            "REQUEST": "GetFeatureInfo",
            "QUERY_LAYERS": self.context.layer.name,
            "INFO_FORMAT": "text/plain",
            "FEATURE_COUNT": "5",
            "I" if self.is_new else "X": str(x),
            "J" if self.is_new else "Y": str(y),
        }
        return with_parameters(self.url(view), named_for(self.context.service, query))
