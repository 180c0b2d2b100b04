"""Write services, in any of the formats for maps, tables, catalogues and other programs.

Rows come one at a time, so that memory does not grow with the catalogue; files and folders are replaced at the end,
when all is written. docs/export.md describes the formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from geocrawl.errors import UsageError
from geocrawl.export.dcat import write_jsonld, write_turtle
from geocrawl.export.files import opened, opened_binary
from geocrawl.export.geoparquet import write_geoparquet
from geocrawl.export.gpkg import write_gpkg
from geocrawl.export.iso import RECORDS, write_iso
from geocrawl.export.properties import geojson_geometry, name_of, service_properties
from geocrawl.export.qgis import write_qgis
from geocrawl.export.webmaps import write_webmap
from geocrawl.files import SECRET, is_standard_output
from geocrawl.model.catalogue import Layer, Service

_WEBMAPS = ("openlayers", "leaflet")
SERVICE_FORMATS = ("geojson", "gpkg", "geoparquet", "dcat", *RECORDS, "qgis", *_WEBMAPS, "seeds")
_JSON_ENDINGS = (".json", ".jsonld")


def export_services(
    services: Iterable[Service],
    layers: Iterable[Layer],
    format: str,
    out: Path | None = None,
    *,
    now: float = 0.0,
    with_secrets: bool = False,
    library_url: str = "",
    base: str = "",
) -> int:
    """Write services and, where the format has them, layers; return the number of services written.

    `out` None or `-` is standard output; `gpkg` needs a file, `qgis` and ISO a folder. `dcat` is JSON-LD in a file
    whose name ends in .json or .jsonld, else Turtle. `services` and `layers` are in the order of the services' numbers.
    `now`: the time that a GeoPackage states. `with_secrets`: the addresses hold keys, so a new file is unreadable for
    other users. `library_url`: where a page loads OpenLayers or Leaflet from; '' for a network of copies. `base`:
    address of the web pages, to which records of services then have links; '' for none.

    Raises UsageError for an unknown format and a wrong target, EnvironmentFault when it cannot be written; former files
    then stay.
    """
    new_mode = SECRET if with_secrets else 0o666
    if format in ("gpkg", "qgis", *RECORDS):
        return _to_files(services, layers, format, out, now, new_mode, base)
    if format == "geoparquet":
        with opened_binary(out, new_mode=new_mode) as file:
            return write_geoparquet(services, file)
    if format not in SERVICE_FORMATS:
        raise UsageError(f"--format {format!r}: one of {', '.join(SERVICE_FORMATS)}")
    with opened(out, new_mode=new_mode) as stream:
        if format in _WEBMAPS:
            return write_webmap(format, services, layers, stream, library_url=library_url)
        if format == "dcat":
            is_json = out is not None and out.suffix.lower() in _JSON_ENDINGS
            return (write_jsonld if is_json else write_turtle)(services, stream, base)
        return _TEXTS[format](services, stream)


def _to_files(
    services: Iterable[Service],
    layers: Iterable[Layer],
    format: str,
    out: Path | None,
    now: float,
    new_mode: int,
    base: str,
) -> int:
    """Write the formats that need a file or a folder of their own."""
    if out is None or is_standard_output(out):
        wanted = "a file" if format == "gpkg" else f"a folder, in which each {_each(format)} gets a file,"
        raise UsageError(f"--format {format} cannot be written to standard output: name {wanted} with --out")
    if format == "gpkg":
        return write_gpkg(services, layers, out, now=now, new_mode=new_mode)
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: --format {format} needs a folder, in which each {_each(format)} gets a file")
    if format in RECORDS:
        return write_iso(format, services, out, base, new_mode=new_mode)
    return write_qgis(services, out, new_mode=new_mode)


def _each(format: str) -> str:
    return "kind of connection" if format == "qgis" else "service"


# --------------------------------------------------------------------------- GeoJSON


def write_geojson(services: Iterable[Service], stream: TextIO) -> int:
    """Write the services with their extents, which may be unknown (null); return their number."""
    stream.write('{"type": "FeatureCollection", "features": [')
    count = 0
    for service in services:
        feature = {
            "type": "Feature",
            "id": service.id,
            "geometry": geojson_geometry(service.box),
            "properties": service_properties(service),
        }
        stream.write((",\n" if count else "\n") + json.dumps(feature, ensure_ascii=False, allow_nan=False))
        count += 1
    stream.write("\n]}\n")
    return count


# --------------------------------------------------------------------------- seeds

_MASK = "***"


def write_seeds(services: Iterable[Service], stream: TextIO) -> int:
    """Write the addresses of services, one a line; return their number.

    An address with a masked key is left out, since nobody can ask it.
    """
    stream.write("# Services of a catalogue of geocrawl. Read them with: geocrawl seeds add --file FILE\n")
    count = 0
    for service in services:
        if _MASK not in service.url:
            stream.write(f"# {name_of(service)}\n{service.url}\n")
            count += 1
    return count


_TEXTS: Mapping[str, Callable[[Iterable[Service], TextIO], int]] = {
    "geojson": write_geojson,
    "seeds": write_seeds,
}
