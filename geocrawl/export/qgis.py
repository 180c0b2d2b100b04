"""Write files of connections for QGIS, one a kind of connection, which its data source manager loads.

Roots, elements and attributes are those that QGIS 3 writes itself when nothing special is set. QGIS takes a `/` in a
name for a folder of its settings, loses a connection without a name and asks about a name that it has: names are safe
and unique within a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.sax.saxutils import quoteattr

from geocrawl.export.properties import is_vector, name_of, tiles_of
from geocrawl.files import make_folder, whole_file, write_faults
from geocrawl.model.catalogue import Service
from geocrawl.probe.registry import declared
from geocrawl.sanitize import plain

_NAME_CHARS = 120
_NO_NAME = re.compile(r"[/\\]+")
_LOGIN = {"username": "", "password": ""}
_ARCGIS = {"authcfg": "", **_LOGIN, "referer": ""}


class ConnectionFile(NamedTuple):
    """The form of a file: its root with version, the element of a connection, and attributes besides name and url."""

    root: str
    version: str
    element: str
    attributes: Mapping[str, str]


FORMS: Mapping[str, ConnectionFile] = {
    "wms": ConnectionFile(
        *("qgsWMSConnections", "1.0", "wms"),
        {
            **dict.fromkeys(("ignoreGetMapURI", "ignoreGetFeatureInfoURI", "ignoreAxisOrientation"), "false"),
            **{"invertAxisOrientation": "false", "smoothPixmapTransform": "false", "dpiMode": "7", "referer": ""},
            **_LOGIN,
        },
    ),
    "wfs": ConnectionFile(
        *("qgsWFSConnections", "1.1", "wfs"),
        {
            **{"version": "auto", "maxnumfeatures": "", "pagesize": "", "pagingenabled": "true"},
            **{"ignoreAxisOrientation": "0", "invertAxisOrientation": "0"},
            **_LOGIN,
        },
    ),
    "wcs": ConnectionFile("qgsWCSConnections", "1.0", "wcs", _LOGIN),
    "csw": ConnectionFile("qgsCSWConnections", "1.0", "csw", {}),
    "xyz": ConnectionFile(
        *("qgsXYZTilesConnections", "1.0", "xyztiles"),
        {"zmin": "0", "zmax": "18", **_ARCGIS, "tilePixelRatio": "0"},
    ),
    "vectortile": ConnectionFile(
        *("qgsVectorTileConnections", "1.0", "vectortile"),
        {"zmin": "0", "zmax": "14", "serviceType": "", **_ARCGIS, "styleUrl": ""},
    ),
    "arcgismap": ConnectionFile("qgsARCGISMAPSERVERConnections", "1.0", "arcgismapserver", _ARCGIS),
    "arcgisfeature": ConnectionFile("qgsARCGISFEATURESERVERConnections", "1.0", "arcgisfeatureserver", _ARCGIS),
    "stac": ConnectionFile("qgsStacConnections", "1.0", "stac", {"authcfg": "", **_LOGIN}),
}
"""Name of a file without `.xml` → its form."""


def write_qgis(services: Iterable[Service], folder: Path, *, new_mode: int = 0o666) -> int:
    """Write a file for each kind of connection that there is into `folder`; return the number of connections.

    Services that QGIS has no connection for are left out. Raises EnvironmentFault when a file cannot be written; former
    files then stay.
    """
    with write_faults(folder):
        make_folder(folder)
        with ExitStack() as files:
            opened: dict[str, _File] = {}
            for service in services:
                for name, address in connections_of(service):
                    if name not in opened:
                        stream = files.enter_context(whole_file(folder / f"{name}.xml", new_mode=new_mode))
                        opened[name] = _File(FORMS[name], stream)
                    opened[name].add(name_of(service), address, declared(service.kind).connection_attributes)
            for file in opened.values():
                file.end()
            return sum(file.count for file in opened.values())


def connections_of(service: Service) -> Iterator[tuple[str, str]]:
    """Yield the file and the address of each connection to a service, at most one."""
    path = service.url.partition("?")[0].rstrip("/").lower()
    files = (file for end, file in declared(service.kind).connections.items() if path.endswith(end))
    if file := next(files, ""):
        yield file, service.url
    elif (tiles := tiles_of(service)) and tiles.first_zoom == 0:  # QGIS can shift no zoom levels
        yield ("vectortile" if is_vector(tiles.template) else "xyz"), tiles.template


_METASEARCH = {
    **{"wms": "OGC:WMS", "wfs": "OGC:WFS", "wcs": "OGC:WCS"},
    **{"arcgismap": "ESRI:ArcGIS:MapServer", "arcgisfeature": "ESRI:ArcGIS:FeatureServer"},
}
"""Name of a file of connections → type of a link from which MetaSearch adds such a connection."""


def metasearch_links(service: Service) -> Iterator[tuple[str, str]]:
    """Yield the address and the type of each link from which MetaSearch, QGIS's catalogue client, adds a service."""
    for form, address in connections_of(service):
        if type_ := _METASEARCH.get(form):
            yield address, type_


class _File:
    """A file under way."""

    def __init__(self, form: ConnectionFile, stream: BinaryIO) -> None:
        self._form = form
        self._stream = stream
        self._names: dict[str, int] = {}
        self.count = 0
        self._write(f'<!DOCTYPE connections>\n<{form.root} version="{form.version}">\n')

    def add(self, title: str, address: str, more: Mapping[str, str]) -> None:
        attributes = {"name": self._unique(safe_name(title)), "url": address, **self._form.attributes, **more}
        written = " ".join(f"{name}={quoteattr(plain(value))}" for name, value in attributes.items())
        self._write(f"    <{self._form.element} {written}/>\n")
        self.count += 1

    def end(self) -> None:
        self._write(f"</{self._form.root}>\n")

    def _unique(self, name: str) -> str:
        """Return a name that the file has not yet: the title, the title with a number; QGIS ignores case in some
        places."""
        key = name.casefold()
        count = self._names.get(key, 0) + 1
        self._names[key] = count
        return name if count == 1 else self._unique(f"{name} ({count})")

    def _write(self, text: str) -> None:
        self._stream.write(text.encode("utf-8", "replace"))


def safe_name(title: str) -> str:
    """Return a title as the name of a connection: without slashes, not empty, of bounded length."""
    return plain(_NO_NAME.sub("-", title), _NAME_CHARS) or "service"
