"""Read lists of map layers that people keep: CSV, editors' imagery indexes, OGC contexts, QGIS and TerriaJS files.

Each entry names a service and the layers that a client requests of it. Placeholders of templates (`{proj}`,
`{switch:a,b}`) are filled as an editor fills them. What is no service with a description of its own, such as a template
of tiles, is an entry without a kind that can be asked, and says why.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from lxml import etree

from geocrawl.errors import UsageError
from geocrawl.files import read_whole
from geocrawl.formats.xml import attribute, child, children, first, href_of, local_name, read_xml, text_of
from geocrawl.model import Kind
from geocrawl.page.naming import kind_of_protocol

_MAX_BYTES = 200 * 1024 * 1024
_MOST_CHARS = 8_000
"""Longest address of an entry."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A layer of a list, as a client would request it."""

    name: str
    """What the list calls the entry; its address when it has no name."""
    url: str
    kind: Kind | None = None
    """The kind that the list names; None: what the address looks like."""
    layers: tuple[str, ...] = ()
    """Names for requests; empty when the list names a service alone."""
    crs: str = ""
    format: str = ""
    """The format of pictures, tiles or features that the entry names; '' when it names none."""
    why_not: str = ""
    """Why the entry cannot be asked; '' when it can."""


def read_entries(path: Path) -> list[ListEntry]:
    """Return the entries of a file, whose format its content decides. Raises UsageError for a file without any."""
    try:
        body = read_whole(path, _MAX_BYTES)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if zipfile.is_zipfile(io.BytesIO(body)):  # .qgz
        body = _unpacked(body, path)
    if not body:
        raise UsageError(f"{path}: empty, or its project is larger than {_MAX_BYTES // 1024**2} MiB")
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in (b"{", b"["):
        entries = list(_of_json(_parsed(body, path)))
    elif start == b"<":
        entries = list(_of_xml(body))
    else:
        entries = list(_of_csv(body.decode("utf-8-sig", "replace"), path))
    if not entries:
        raise UsageError(
            f"{path}: no entry with an address was read; expected CSV with the columns url and layer, an imagery index "
            "(ELI, JOSM), an OGC context, a QGIS project or layer file, or a TerriaJS catalogue"
        )
    return entries


def _unpacked(body: bytes, path: Path) -> bytes:
    """Return the project in a ZIP archive. Raises UsageError."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            project = next((each for each in archive.infolist() if each.filename.endswith(".qgs")), None)
            if project is not None:
                return archive.read(project) if project.file_size <= _MAX_BYTES else b""
    except Exception as error:  # of each compression and of what is encrypted another one
        raise UsageError(f"{path}: a ZIP archive that cannot be read: {error}") from None
    raise UsageError(f"{path}: a ZIP archive without a QGIS project (.qgs)")


def _parsed(body: bytes, path: Path) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no JSON that can be read: {error}") from None


# --------------------------------------------------------------------------- one entry

_SWITCH = re.compile(r"\{switch:([^},]*)[^}]*\}", re.I)
_PLACEHOLDER = re.compile(r"\$?\{[^{}]*\}")
_TILE = re.compile(r"\{-?(?:z|zoom|x|y|q|quadkey|TileMatrix|TileRow|TileCol)\b[^}]*\}", re.I)
_LAYERS = ("layers", "layer", "typenames", "typename", "coverageid", "coverage")
_CRS = ("crs", "srs", "srsname")
_FORMAT = ("format", "outputformat")


def _entry(
    name: str, url: str, kind: str = "", layers: str | list[str] = "", crs: str = "", format_: str = ""
) -> Iterator[ListEntry]:
    """Yield the entry at an address or template; none without an address."""
    url = url.strip()
    if len(url) > _MOST_CHARS:
        yield ListEntry(" ".join(name.split()) or url[:_MOST_CHARS], "", why_not="an address without end")
        return
    if not url:
        return
    url = _SWITCH.sub(r"\1", url)
    before, _, query = url.partition("?")
    fields = {key.lower(): value for key, value in parse_qsl(_PLACEHOLDER.sub("", query))}
    if not layers:
        layers = next((fields[key] for key in _LAYERS if fields.get(key)), "")
    named = layers.split(",") if isinstance(layers, str) else layers
    service = kind.lower() or fields.get("service", "").lower()
    yield ListEntry(
        name=" ".join(name.split()) or url,
        url=_PLACEHOLDER.sub("", url),
        kind=_KINDS.get(service),
        layers=tuple(filter(None, (each.strip() for each in named))),
        crs=crs or next((fields[key] for key in _CRS if fields.get(key)), ""),
        format=format_ or next((fields[key] for key in _FORMAT if fields.get(key)), ""),
        why_not=_why_not(service, before, url),
    )


_KINDS = {
    **{str(kind): kind for kind in Kind},
    "wms_endpoint": Kind.WMS,
    "ogc:wms": Kind.WMS,
    "ogc:wfs": Kind.WFS,
    "ogc:wmts": Kind.WMTS,
    "ogc:wcs": Kind.WCS,
    "esri-mapserver": Kind.ARCGIS,
    "esri-featureserver": Kind.ARCGIS,
    "esri-imageserver": Kind.ARCGIS,
    "arcgismapserver": Kind.ARCGIS,
    "arcgisfeatureserver": Kind.ARCGIS,
    "esri:fs": Kind.ARCGIS,
    "ogc:sta": Kind.SENSORTHINGS,
    "ogcfeat": Kind.OGCAPI,
}
"""What lists call a kind → the kind."""


def named_kind(text: str) -> Kind | None:
    """Return the kind that a list calls so; None for what is no kind of service."""
    named = kind_of_protocol(text)
    return _KINDS.get(text.lower()) or (Kind(named) if named else None)


def _why_not(service: str, before_query: str, url: str) -> str:
    if not re.match(r"https?://", url, re.I):
        return "no web address"
    if service and service not in _KINDS:
        return f"{service}: a kind without a description of its layers"
    if service not in _KINDS and _TILE.search(url):
        return "a template of tiles has no description of its layers"
    return "its address needs a value that the list does not have" if _PLACEHOLDER.search(before_query) else ""


# --------------------------------------------------------------------------- CSV


@contextmanager
def csv_faults(path: Path, reader: csv.DictReader[str]) -> Iterator[None]:
    """Raise UsageError, with its line, for what cannot be read as CSV, such as a cell of 131,072 characters."""
    try:
        yield
    except csv.Error as error:
        raise UsageError(f"{path}: after line {reader.line_num}: {error}") from None


def _of_csv(text: str, path: Path) -> Iterator[ListEntry]:
    lines = text.splitlines()
    dialect = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    reader = csv.DictReader(lines, delimiter=dialect)
    with csv_faults(path, reader):
        columns = {name.strip().lower(): name for name in reader.fieldnames or () if name}
    address = next((columns[name] for name in ("url", "link", "address", "endpoint") if name in columns), None)
    if address is None:
        raise UsageError(f"{path}: no column url; expected CSV whose first line names the columns url and layer")

    def cell(row: Mapping[str, str | None], *names: str) -> str:
        return next((row[columns[name]] or "" for name in names if name in columns and row[columns[name]]), "")

    with csv_faults(path, reader):
        for row in reader:
            yield from _entry(
                cell(row, "name", "title", "id"),
                row[address] or "",
                cell(row, "kind", "type", "service"),
                cell(row, "layer", "layers"),
                cell(row, "crs", "srs"),
                cell(row, "format"),
            )


# --------------------------------------------------------------------------- JSON


def _of_json(value: Any) -> Iterator[ListEntry]:
    """Yield the entries of an imagery index (GeoJSON or a plain list), an OWS context, or a TerriaJS catalogue."""
    if isinstance(value, list):
        for each in value:
            yield from _of_object(each)
    elif isinstance(value, dict) and isinstance(value.get("features"), list):
        for feature in value["features"]:
            properties = feature.get("properties") if isinstance(feature, dict) else None
            if isinstance(properties, dict) and isinstance(properties.get("offerings"), list):
                yield from _of_offerings(str(properties.get("title") or ""), properties["offerings"])
            else:
                yield from _of_object(properties)
    else:
        yield from _of_object(value)


_NESTED = ("catalog", "members", "items", "layers")


def _of_object(value: Any, depth: int = 0) -> Iterator[ListEntry]:
    """Yield the entry that an object describes, and those of the objects within it."""
    if not isinstance(value, dict) or depth > 20:
        return
    url = value.get("url")
    if isinstance(url, str):
        crs, parameters = value.get("available_projections"), value.get("parameters")
        given = {key.lower(): text for key, text in parameters.items()} if isinstance(parameters, dict) else {}
        yield from _entry(
            str(value.get("name") or value.get("id") or ""),
            url,
            str(value.get("type") or ""),
            _names(next((value[key] for key in ("layers", "layer", "typeNames") if value.get(key)), "")),
            str(crs[0]) if isinstance(crs, list) and crs and "{proj}" in url else "",
            str(given.get("format") or ""),
        )
    for key in _NESTED:
        if isinstance(value.get(key), list):
            for each in value[key]:
                yield from _of_object(each, depth + 1)


def _names(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [each for each in value if isinstance(each, str)]
    return value if isinstance(value, str) else ""


def _of_offerings(title: str, offerings: list[Any]) -> Iterator[ListEntry]:
    """Yield the offerings of a resource of an OWS context (OGC 14-055r2, 7.1.3)."""
    for offering in offerings:
        operations = offering.get("operations") if isinstance(offering, dict) else None
        hrefs = [str(each.get("href") or "") for each in operations or () if isinstance(each, dict)]
        yield from _of_operations(title, str(offering.get("code") or "") if operations else "", hrefs)


def _of_operations(title: str, code: str, hrefs: list[str]) -> Iterator[ListEntry]:
    """Yield the entry of an offering: that of the operation which names layers, else of the first."""
    kind = code.rstrip("/").rpartition("/")[2]
    entries = [entry for href in hrefs for entry in _entry(title, href, kind)]
    yield from sorted(entries, key=lambda entry: not entry.layers)[:1]


# --------------------------------------------------------------------------- XML


def _of_xml(body: bytes) -> Iterator[ListEntry]:
    """Yield the entries of a JOSM index, a Web Map Context, an OWS context in Atom, or a QGIS file."""
    root = read_xml(body).root
    if root is None:
        return
    for element in root.iter(etree.Element):
        name = local_name(element)
        if name == "entry" and child(element, "url") is not None:
            yield from _entry(_text(element, "name"), _text(element, "url"), _text(element, "type"))
        elif name == "entry":
            for offering in children(element, "offering"):
                hrefs = [attribute(each, "href") for each in children(offering, "operation")]
                yield from _of_operations(_text(element, "title"), attribute(offering, "code"), hrefs)
        elif name == "Layer" and (server := child(element, "Server")) is not None:
            href = href_of(first(server, "OnlineResource"))
            named = children(child(element, "FormatList"), "Format")
            current = [text_of(each) for each in named if attribute(each, "current") in ("1", "true")]
            of_layer = (attribute(server, "service"), _text(element, "Name"), "", next(iter(current), ""))
            yield from _entry(_text(element, "Title"), href, *of_layer)
        elif name == "maplayer":
            title, provider = _text(element, "layername"), _text(element, "provider").lower()
            yield from _of_source(title, provider, _text(element, "datasource"))


def _text(element: etree._Element, name: str) -> str:
    return text_of(child(element, name))


_QUOTED = re.compile(r"(\w+)='((?:[^'\\]|\\.)*)'")


def _of_source(title: str, provider: str, source: str) -> Iterator[ListEntry]:
    """Yield the entry of a layer's source in QGIS: pairs of a query, or `name='value'` of vector providers."""
    fields = [(key.lower(), value) for key, value in _QUOTED.findall(source)] or [
        (key.lower(), value) for key, value in parse_qsl(source)
    ]
    values = dict(fields)
    url = unquote(values.get("url", ""))
    if not url or provider in {"ogr", "gdal", "postgres", "delimitedtext", "memory"}:
        return
    kind = "tiles" if values.get("type") == "xyz" else "wmts" if "tilematrixset" in values else provider
    layers = [value for key, value in fields if key in ("layers", "typename", "identifier")]
    crs = values.get("crs", "") or values.get("srsname", "")
    yield from _entry(title, url, kind, layers, crs, values.get("format", ""))
