"""Write how a service is used: lines to paste into QGIS, Python, OpenLayers, Leaflet, a terminal."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from string import Template

from geocrawl.model.catalogue import Layer, Service
from geocrawl.probe.registry import declared
from geocrawl.sanitize import masked, plain
from geocrawl.web.pages.qgis_layer import pyqgis
from geocrawl.web.publishing import client_address


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to copy."""

    name: str
    """qgis, capabilities, pyqgis, owslib, openlayers, leaflet, curl."""
    code: str


def snippets(service: Service, layer: Layer | None) -> list[Snippet]:
    """Return what fits the kind of a service, for a layer with a name; keys are masked."""
    address = plain(masked(service.url))
    described = plain(masked(client_address(service.kind, service.url)))
    name = plain(layer.name) if layer else ""
    found = [
        Snippet("qgis", _connection(service.kind, address, described)),
        Snippet("capabilities", described),
        Snippet("pyqgis", pyqgis(service, layer)),
        Snippet("owslib", _owslib(service, address)),
        *(Snippet(library, _on_the_web(service.kind, library, address, described, name)) for library in _LIBRARIES),
        Snippet("curl", f"curl -sS {shlex.quote(described)}"),
    ]
    return [each for each in found if each.code]


_LIBRARIES = ("openlayers", "leaflet")


def _connection(kind: str, address: str, described: str) -> str:
    """Return the address that a new connection of QGIS takes; '' for kinds that QGIS does not know."""
    known = declared(kind)
    if not known.connections:
        return ""
    return described if known.by_capabilities else address


def _owslib(service: Service, address: str) -> str:
    known = declared(service.kind)
    if not known.client:
        return ""
    module, _, name = known.client.partition(":")
    version = f", version={service.version!r}" if service.version in known.client_versions else ""
    lines = (f"from {module} import {name}", "", f"service = {name}({address!r}{version})")
    return "\n".join((*lines, f"print({known.client_prints})"))


def _on_the_web(kind: str, library: str, address: str, described: str, name: str) -> str:
    lines = declared(kind).snippets.get(library, "") if name else ""
    url, capabilities, layer = (json.dumps(text, ensure_ascii=False) for text in (address, described, name))
    return Template(lines).substitute(url=url, capabilities=capabilities, layer=layer)
