"""Read the documents of an ArcGIS Server as a service with its items.

The extent that a service states applies to all its layers, so it belongs to a nameless item above the layers, like the
root layer of a WMS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING
from urllib.parse import unquote

from geocrawl.formats.json import (
    MAX_ITEMS,
    JsonObject,
    first_line,
    line_of,
    lines,
    list_of,
    object_of,
    objects,
    text_of,
)
from geocrawl.model import Deviation, Item, Kind, Layer, Page, Service, Url
from geocrawl.probe.answer import Finding
from geocrawl.probe.arcgis.documents import is_arcgis
from geocrawl.probe.arcgis.extents import Bounds, esri_bounds, esri_extent, esri_system
from geocrawl.probe.fingerprint import fingerprint

if TYPE_CHECKING:
    from shapely.geometry import Polygon

_UNNAMED = frozenset({"", "layers", "map", "esrimap"})
"""Default names of a service's map."""


_UNMENDED: tuple[str, ...] = ()
_PROJECTS = (".aprx", ".mxd", ".msd")
"""Suffixes of titles that are files on the author's machine."""


class Form(Enum):
    """The forms of document that an ArcGIS Server has."""

    FOLDER = auto()
    MAP = auto()
    IMAGE = auto()
    FEATURES = auto()
    LAYER = auto()
    """A part of a map or feature service."""


def form_of(value: JsonObject) -> Form:
    """Return the form of a document that `is_arcgis`."""
    if isinstance(value.get("services"), list) or isinstance(value.get("folders"), list):
        return Form.FOLDER
    if "serviceDataType" in value or "pixelSizeX" in value:
        return Form.IMAGE
    if "id" in value and "layers" not in value and "type" in value:
        return Form.LAYER
    return Form.MAP if {"mapName", "supportedImageFormatTypes", "singleFusedMapCache"} & value.keys() else Form.FEATURES


def read_arcgis(page: Page, value: JsonObject) -> Finding | None:
    """Return the service that an ArcGIS document describes; None for any other document."""
    if not is_arcgis(value):
        return None
    form = form_of(value)
    items, codes = (_entries(value), _UNMENDED) if form is Form.FOLDER else _contents(form, value, page.final)
    if form is Form.FOLDER and not items:
        return Finding("empty", "a folder without services")
    service = _service(form, value, page.final, items)
    deviations = tuple(Deviation(code, "the extent of the service") for code in codes)
    return Finding("ok", form.name.lower(), replace(service, fingerprint=fingerprint(service)), deviations)


def _service(form: Form, value: JsonObject, url: Url, items: Sequence[Layer]) -> Service:
    document = object_of(value.get("documentInfo"))
    return Service(
        kind=Kind.ARCGIS,
        version=line_of(value.get("currentVersion")),
        title=_title(form, value, url),
        abstract=text_of(value.get("serviceDescription")) or text_of(value.get("description")),
        keywords=lines(document.get("Keywords")),
        provider=line_of(document.get("Author")),
        access_constraints=line_of(value.get("copyrightText")),
        formats=lines(value.get("supportedImageFormatTypes")) or lines(value.get("supportedQueryFormats")),
        layers=tuple(items),
    )


def _title(form: Form, value: JsonObject, url: Url) -> str:
    """Return the author's title of the service, else its name in the address."""
    named = first_line(object_of(value.get("documentInfo")), "Title") or first_line(value, "name", "mapName")
    if named.lower() not in _UNNAMED and not named.lower().endswith(_PROJECTS):
        return named
    parts = [unquote(part) for part in url.address.partition("?")[0][len(url.origin) :].split("/") if part]
    if form is Form.FOLDER:
        is_root = not parts or parts[-1].lower() == "services"
        return url.host if is_root else f"{parts[-1]} ({url.host})"
    return parts[-2] if len(parts) > 1 else url.host


# --------------------------------------------------------------------------- items


def _entries(folder: JsonObject) -> list[Layer]:
    """Return a folder's services as `name/type`, and its folders by their names."""
    services = (
        Layer(f"{name}/{line_of(each.get('type'))}", name.rpartition("/")[2].replace("_", " "), item=Item.FOLDER)
        for each in objects(folder.get("services"))[:MAX_ITEMS]
        if (name := line_of(each.get("name")))
    )
    folders = (
        Layer(name, name, item=Item.FOLDER) for each in list_of(folder.get("folders")) if (name := line_of(each))
    )
    return [*services, *folders][:MAX_ITEMS]


def _contents(form: Form, value: JsonObject, url: Url) -> tuple[list[Layer], tuple[str, ...]]:
    """Return a service and below it its layers and tables; an image service or a layer alone."""
    box, bounds, codes = _whole(value)
    kind = Item.FEATURE_TYPE if form is Form.FEATURES else Item.LAYER
    root = Layer("", _title(form, value, url), crs=_systems(value), box=box, bounds=bounds, item=kind)
    if form is Form.IMAGE:
        return [replace(root, name=root.title)], codes
    queryable = "query" in text_of(value.get("capabilities")).lower()
    if form is Form.LAYER:
        return [replace(root, name=line_of(value.get("id")), queryable=queryable)], codes
    parts = [*objects(value.get("layers")), *objects(value.get("tables"))][:MAX_ITEMS]
    return [root, *_layers(parts, kind, queryable)], codes


def _whole(value: JsonObject) -> tuple[Polygon | None, Bounds | None, tuple[str, ...]]:
    """Return the first stated extent, in degrees if possible and as stated, with codes of deviations."""
    stated: Bounds | None = None
    for name in ("fullExtent", "extent", "initialExtent"):
        extent = object_of(value.get(name))
        stated = stated or esri_bounds(extent, value)
        box, codes = esri_extent(extent, value)
        if box is not None:
            return box, stated, codes
    return None, stated, ()


def _systems(value: JsonObject) -> tuple[str, ...]:
    extent = object_of(value.get("extent")) or object_of(value.get("fullExtent"))
    return esri_system(object_of(value.get("spatialReference")) or object_of(extent.get("spatialReference")))


def _layers(parts: Sequence[JsonObject], kind: Item, queryable: bool) -> Iterator[Layer]:
    """Return layers below the root (index 0). A group comes before its members, so its index is already known."""
    index_of: dict[str, int] = {}
    for index, part in enumerate(parts, 1):
        name = line_of(part.get("id"))
        yield Layer(
            name=name,
            title=line_of(part.get("name")) or name,
            abstract=text_of(part.get("description")),
            parent=index_of.get(line_of(part.get("parentLayerId")), 0),
            queryable=queryable and not part.get("subLayerIds"),
            item=kind,
        )
        index_of.setdefault(name, index)
