"""Write a page with OpenLayers or Leaflet that shows the services, and from which its code can be copied.

The page loads the library from a network of copies, with its checksum, or from where the user has it. Texts of the web
are data: in the script they are JSON without the signs that could end it, on the page they are text, never markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from textwrap import indent
from typing import TextIO

from geocrawl.export.properties import description_address, extent_of, is_vector, name_of, tiles_of
from geocrawl.model.catalogue import Layer, Service
from geocrawl.model.kinds import facts_of
from geocrawl.probe.registry import declarations, declared
from geocrawl.sanitize import plain

_COPIES = "https://cdn.jsdelivr.net/npm/"
_CHECKSUM = re.compile(r'\s+crossorigin="anonymous"\s+integrity="[^"]*"')
_PLACE = "/*SERVICES*/\n"
MOST_LAYERS = 100
"""Most layers of one service on a page."""
_OF_SCRIPTS = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def write_webmap(
    library: str,
    services: Iterable[Service],
    layers: Iterable[Layer],
    stream: TextIO,
    *,
    library_url: str = "",
) -> int:
    """Write the page of a library for the services that it can show; return their number.

    `services` and `layers` are in the order of the services' numbers. `library_url`: address or folder from which the
    page loads the library, with the paths of npm packages (`ol@10.11.0/dist/ol.js`); its files are not checked then.
    """
    from jinja2 import Environment, PackageLoader  # only these two of all formats need it

    functions = {
        declaration.kind: declaration.web_maps[library]
        for declaration in declarations()
        if library in declaration.web_maps
    }
    code = "".join(indent(f"{kind}: {function},\n", "  ") for kind, function in functions.items())
    files = PackageLoader("geocrawl", "data/export")
    pages = Environment(loader=files, autoescape=True, trim_blocks=True, keep_trailing_newline=True)
    page = pages.get_template(f"{library}.html").render(library=library, kinds=code)
    before, _, after = page.partition(_PLACE)
    if library_url:
        before = _CHECKSUM.sub("", before).replace(_COPIES, f"{escape(library_url.rstrip('/'))}/")
    stream.write(before)
    count = 0
    for service, names in _with_layers(services, layers):
        if (entry := _entry(library, service, names)) is not None:
            stream.write(json.dumps(entry, ensure_ascii=False, allow_nan=False).translate(_OF_SCRIPTS) + ",\n")
            count += 1
    stream.write(after)
    return count


def _with_layers(
    services: Iterable[Service], layers: Iterable[Layer]
) -> Iterator[tuple[Service, list[tuple[str, str]]]]:
    """Yield each service with names and titles of its first named layers."""
    waiting = iter(layers)
    layer = next(waiting, None)
    for service in services:
        names: list[tuple[str, str]] = []
        while layer is not None and layer.service_id <= service.id:
            if layer.service_id == service.id and layer.name and len(names) < MOST_LAYERS:
                names.append((layer.name, plain(layer.title) or plain(layer.name)))
            layer = next(waiting, None)
        yield service, names


def _entry(library: str, service: Service, names: list[tuple[str, str]]) -> dict[str, object] | None:
    """Return what the page says of a service; None for one that the library cannot show."""
    kind, path = declared(service.kind), service.url.partition("?")[0].rstrip("/").lower()
    if library not in kind.web_maps or not path.endswith(kind.web_map_ends):
        return None
    address, first_zoom = service.url, 0
    if facts_of(service.kind).tiles:
        tiles = tiles_of(service)
        if tiles is None or is_vector(tiles.template):
            return None
        address, first_zoom = tiles
    elif kind.layers_by_name and not names:
        return None
    extent = extent_of(service.box)
    return {
        "title": name_of(service),
        "kind": service.kind,
        "url": address,
        **({"firstZoom": first_zoom} if first_zoom else {}),
        **({"description": description_address(service.kind, address)} if kind.by_capabilities else {}),
        "layers": names if kind.layers_by_name else [],
        "box": extent.bounds if extent is not None else None,
    }
