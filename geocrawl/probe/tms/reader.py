"""Read the documents of a Tile Map Service: root, service and one tile map (OSGeo TMS Specification 1.0.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, line_of, local_name, text_of
from geocrawl.formats.xml_reader import Reading
from geocrawl.model import Candidate, Deviation, Item, Kind, Layer, Page, Service, Url
from geocrawl.probe.answer import Finding, answer_deviations
from geocrawl.probe.extents.systems import Box, in_system
from geocrawl.probe.fingerprint import fingerprint
from geocrawl.probe.leads import lead
from geocrawl.probe.ows.wms_service import read_contact, read_keywords
from geocrawl.sanitize import ending_of
from geocrawl.urls import read_url

MAX_MAPS = 20_000
"""Most maps or services of one document that are read."""
MAX_LEADS = 20
_PLACE = re.compile(r"/\d+\.\d+\.\d+/(.{1,500}?)/?\Z")
"""The part of a tile map's address after the version, which names the map."""
_PARTS = ("SRS", "TileFormat", "TileSets", "BoundingBox")
_TAIL_BYTES = 4_096


def read_tms(page: Page, root: etree._Element, reading: Reading) -> Finding | None:
    """Return the service that a document of a TMS describes; None for any other document."""
    name = local_name(root)
    if name not in ("Services", "TileMapService", "TileMap") or (name == "Services" and not _services(root)):
        return None
    if f"</{name}" not in page.body[-_TAIL_BYTES:].decode("latin-1") and len(root):
        return Finding("truncated", ending_of(page.body), deviations=reading.deviations)
    if name == "TileMapService" and child(root, "TileMaps") is None:
        return Finding("not-capabilities", "TileMapService without TileMaps")
    if name == "TileMap" and all(child(root, part) is None for part in _PARTS):
        return Finding("not-capabilities", f"TileMap without any of {', '.join(_PARTS)}")
    layers, codes = _layers(name, root, page.final)
    deviations = (*answer_deviations(page), *reading.deviations, *(Deviation(code, "the tile map") for code in codes))
    return Finding("ok", name, _service(root, layers), deviations)


def leads_of(root: etree._Element, url: Url) -> tuple[Candidate, ...]:
    """Return the services that a root names; of a tile map, its service.

    Only services on the same host count: programs that write tile maps to files put an example's address there.
    """
    if local_name(root) == "TileMap":
        named = [(attribute(root, "tilemapservice"), "")]
    else:
        named = [(attribute(each, "href"), attribute(each, "title")) for each in _services(root)]
    targets = ((read_url(address, url), title) for address, title in named[:MAX_LEADS] if address)
    return tuple(lead(Kind.TMS, target, url, title) for target, title in targets if target and target.host == url.host)


def _services(root: etree._Element) -> list[etree._Element]:
    return list(islice(children(root, "TileMapService"), MAX_MAPS))


def _service(root: etree._Element, layers: tuple[Layer, ...]) -> Service:
    contact = read_contact(root)
    service = Service(
        kind=Kind.TMS,
        version=attribute(root, "version").strip() or "1.0.0",
        title=line_of(child(root, "Title")),
        abstract=text_of(child(root, "Abstract")),
        keywords=read_keywords(root),
        provider=contact.get("organization", ""),
        contact=contact,
        formats=tuple(dict.fromkeys(name for layer in layers for name in layer.formats)),
        layers=layers,
    )
    return replace(service, fingerprint=fingerprint(service))


def _layers(name: str, root: etree._Element, url: Url) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    if name == "Services":
        found = ((attribute(each, "href"), attribute(each, "title")) for each in _services(root))
        return tuple(Layer(href[:500], title, item=Item.FOLDER) for href, title in found), ()
    if name == "TileMapService":
        return tuple(_listed(child(root, "TileMaps"))), ()
    code = line_of(child(root, "SRS"))
    box, codes = _box(root, code)
    format_ = child(root, "TileFormat")
    media_type = attribute(format_, "mime-type").strip() if format_ is not None else ""
    layer = Layer(
        name=_name(url.address.partition("?")[0]),
        title=line_of(child(root, "Title")),
        abstract=text_of(child(root, "Abstract")),
        crs=(code,) if code else (),
        box=box,
        formats=(media_type,) if media_type else (),
    )
    return (layer,), codes


def _listed(maps: etree._Element | None) -> Iterator[Layer]:
    for each in islice(children(maps, "TileMap"), MAX_MAPS):
        href, code = attribute(each, "href").strip(), attribute(each, "srs").strip()
        extension = attribute(each, "extension").strip()
        yield Layer(
            name=_name(href.partition("?")[0]),
            title=" ".join(attribute(each, "title").split()),
            crs=(code,) if code else (),
            formats=(extension,) if extension else (),
        )


def _name(address: str) -> str:
    found = _PLACE.search(address[-2_000:])
    return found[1] if found else address.rstrip("/").rpartition("/")[2][:500]


def _box(root: etree._Element, code: str) -> Box:
    box = child(root, "BoundingBox")
    if box is None:
        return None, ()
    return in_system(code, *(attribute(box, side) for side in ("minx", "miny", "maxx", "maxy")))
