"""Read indexes of imagery that map editors share: Editor Layer Index (GeoJSON, JSON) and JOSM's list of maps (XML).

An entry is a layer with the template of its requests. Of a WMS the address is kept without the parameters that the
editor fills in, of a WMTS it is that of the capabilities; templates of tiles are no services.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml import etree

from geocrawl.formats.json import JsonObject, object_of, string_of
from geocrawl.formats.xml import child, children, first_text
from geocrawl.page.content import MAX_HREF_CHARS, RawLink
from geocrawl.page.metadata import address_in, link

SIGNAL = "imagery"
_KINDS = {"wms": "wms", "wms_endpoint": "wms", "wmts": "wmts"}
_TYPES = _KINDS.keys() | {"tms", "bing", "scanex"}
_SWITCH = re.compile(r"\{switch:([^,{}]*)[^{}]*\}", re.I)


def read_imagery(entries: Sequence[JsonObject]) -> list[RawLink] | None:
    """Return the services of an index in JSON, whose entries may be features; None for any other list."""
    layers = [object_of(entry.get("properties")) or entry for entry in entries]
    if not layers or not all(string_of(layer.get("type")) in _TYPES and "url" in layer for layer in layers[:5]):
        return None
    parts = ((string_of(each.get(name)) for name in ("type", "url", "name", "description")) for each in layers)
    return [found for form, url, name, told in parts for found in _layer(form, url, name, told)]


def read_josm_imagery(root: etree._Element) -> Iterator[RawLink]:
    """Yield the services of JOSM's list."""
    for entry in children(root, "entry"):
        form, name, told = (first_text(child(entry, part)) for part in ("type", "name", "description"))
        yield from _layer(form, first_text(child(entry, "url"), MAX_HREF_CHARS), name, told)


def _layer(form: str, template: str, name: str, description: str) -> Iterator[RawLink]:
    place, mark, query = _SWITCH.sub(r"\1", template).partition("?")
    query = "&".join(part for part in query.split("&") if "{" not in part)
    href = address_in(place + mark + query)
    if href and "{" not in place and form in _KINDS:
        yield link(href, SIGNAL, names=[name, form], descriptions=[description], kind=_KINDS[form])
