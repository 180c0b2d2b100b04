"""Write a GeoPackage (OGC 12-128r17, 1.3): services with their extents, and a table of layers.

It is made with Python's sqlite3, row by row, in the file that takes the place of a former one at the end.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from shapely import GeometryCollection, MultiPolygon, Polygon

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.export.properties import (
    LAYER_COLUMNS,
    SERVICE_COLUMNS,
    extent_of,
    layer_properties,
    service_properties,
    wkb_multipolygon,
)
from geocrawl.files import part_of, whole_file, write_faults
from geocrawl.model.catalogue import Box, Layer, Service
from geocrawl.wording import iso

APPLICATION_ID = b"GPKG"
_USER_VERSION = 10300
_WGS84 = 4326
_WGS84_WKT = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],'
    'AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,'
    'AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]'
)
_METADATA = (
    "CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT "
    "NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT)",
    "CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, "
    "identifier TEXT UNIQUE, description TEXT DEFAULT '', "
    "last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), "
    "min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER, "
    "CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))",
    "CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT "
    "NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL, "
    "CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name), "
    "CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name), "
    "CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id))",
)
_STYLES = (
    "CREATE TABLE layer_styles (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_catalog TEXT(256), "
    "f_table_schema TEXT(256), f_table_name TEXT(256), f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, "
    "styleSLD TEXT, useAsDefault BOOLEAN, description TEXT, owner TEXT(30), ui TEXT(30), "
    "update_time DATETIME DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')))"
)
"""The table in which QGIS keeps styles, as it makes it itself."""
_SYSTEMS = (
    ("Undefined Cartesian SRS", -1, "NONE", -1, "undefined"),
    ("Undefined geographic SRS", 0, "NONE", 0, "undefined"),
    ("WGS 84 geodetic", _WGS84, "EPSG", _WGS84, _WGS84_WKT),
)
_GEOMETRY = "geom"
_TIMES = tuple(name for name, type_ in SERVICE_COLUMNS.items() if type_ == "DATETIME")
_WHOLE_WORLD: Box = (-180.0, -90.0, 180.0, 90.0)


def write_gpkg(services: Iterable[Service], layers: Iterable[Layer], out: Path, *, now: float, new_mode: int) -> int:
    """Write the tables `services` (one feature each) and `layers` to the file `out`; return the number of services.

    A former GeoPackage is replaced. Raises UsageError for a pipe, a device and another database, EnvironmentFault when
    the file cannot be written.
    """
    return _written(out, new_mode, lambda connection: _fill(connection, services, layers, iso(now) or ""))


def write_layers(
    layers: Iterable[tuple[Box | None, Mapping[str, object]]], columns: Mapping[str, str], out: Path, *, now: float
) -> int:
    """Write the table `layers`, a feature each with its extent and the values of `columns` (name → type in SQL).

    Return the number of layers. Raises as `write_gpkg` does.
    """

    def fill(connection: sqlite3.Connection) -> int:
        written = _Extent()
        _make(connection, "layers", {"fid": "INTEGER PRIMARY KEY", _GEOMETRY: "MULTIPOLYGON", **columns})
        _insert(connection, "layers", (_GEOMETRY, *columns), written.rows(layers))
        _register_features(connection, "layers", "Layers of services", written.box, iso(now) or "")
        return written.count

    return _written(out, 0o666, fill)


def _written(out: Path, new_mode: int, fill: Callable[[sqlite3.Connection], int]) -> int:
    """Make a GeoPackage with the tables that `fill` writes; return what it returns."""
    target = out.resolve()
    if target.exists() and not target.is_file():
        raise UsageError(f"{out}: a GeoPackage needs a file; name one")
    try:
        with write_faults(out), whole_file(out, new_mode=new_mode, over=APPLICATION_ID):
            connection = sqlite3.connect(part_of(target), isolation_level=None)
            try:
                _begin(connection)
                count = fill(connection)
                connection.execute("COMMIT")
                return count
            finally:
                connection.close()
    except sqlite3.Error as error:
        raise EnvironmentFault(f"{out}: cannot be written: {error}") from error


def _begin(connection: sqlite3.Connection) -> None:
    """Begin the transaction that makes the file, with the tables that every GeoPackage has."""
    # Nobody reads the part, and a failed one is removed: neither a journal nor waiting for the disk is needed.
    for pragma in ("journal_mode = OFF", "synchronous = OFF", f"application_id = {_application_number()}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute(f"PRAGMA user_version = {_USER_VERSION}")
    connection.execute("BEGIN")
    for statement in _METADATA:
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, organization_coordsys_id, definition) "
        "VALUES (?, ?, ?, ?, ?)",
        _SYSTEMS,
    )


def _fill(connection: sqlite3.Connection, services: Iterable[Service], layers: Iterable[Layer], now: str) -> int:
    """Write services and layers; return the number of services."""
    written = _Extent()
    _make(connection, "services", {"id": "INTEGER PRIMARY KEY", _GEOMETRY: "MULTIPOLYGON", **_without_id()})
    _make(connection, "layers", {"fid": "INTEGER PRIMARY KEY AUTOINCREMENT", **LAYER_COLUMNS})
    names = (_GEOMETRY, *SERVICE_COLUMNS)
    _insert(connection, "services", names, written.rows((service.box, _values(service)) for service in services))
    _insert(connection, "layers", tuple(LAYER_COLUMNS), (tuple(layer_properties(layer).values()) for layer in layers))
    connection.execute("CREATE INDEX layers_service ON layers (service_id)")
    _register_features(connection, "services", "Services", written.box, now)
    _register(connection, ("layers", "attributes", "layers", "Layers of services"), (None,) * 5, now)
    return written.count


def _values(service: Service) -> Mapping[str, object]:
    values = service_properties(service)
    return {**values, **{name: _with_milliseconds(values[name]) for name in _TIMES}}


class _Extent:
    """Makes the rows of features, and remembers their number and the box around them."""

    def __init__(self) -> None:
        self.count = 0
        self._around: Polygon | None = None

    @property
    def box(self) -> Box:
        """Return the box around all; the world without extents."""
        return self._around.bounds if self._around else _WHOLE_WORLD

    def rows(self, features: Iterable[tuple[Box | None, Mapping[str, object]]]) -> Iterator[tuple[object, ...]]:
        """Yield geometry and values of each feature."""
        for box, values in features:
            self.count += 1
            extent = extent_of(box)
            if extent is not None:
                self._around = GeometryCollection([extent, self._around or extent]).envelope
            yield (geometry_blob(extent), *values.values())


def _with_milliseconds(time: object) -> str | None:
    """Return a time in the form that GeoPackage demands (table 1, DATETIME)."""
    return time.replace("Z", ".000Z") if isinstance(time, str) else None


def geometry_blob(extent: Polygon | MultiPolygon | None) -> bytes | None:
    """Return a geometry as GeoPackage stores it (2.1.3): header with envelope, then well-known binary."""
    if extent is None:
        return None
    west, south, east, north = extent.bounds
    little_endian_with_envelope = 0b0000_0011
    header = struct.pack("<2sBBi4d", b"GP", 0, little_endian_with_envelope, _WGS84, west, east, south, north)
    return header + wkb_multipolygon(extent)


def _application_number() -> int:
    return int.from_bytes(APPLICATION_ID, "big")


def _without_id() -> dict[str, str]:
    return {name: type_ for name, type_ in SERVICE_COLUMNS.items() if name != "id"}


def _make(connection: sqlite3.Connection, table: str, columns: Mapping[str, str]) -> None:
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {type_}' for name, type_ in columns.items())})")


def _insert(
    connection: sqlite3.Connection, table: str, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]
) -> None:
    places = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)  # noqa: S608 our own


def _register_features(connection: sqlite3.Connection, table: str, about: str, box: Box, now: str) -> None:
    """Write the description of a table of features, by which programs find it, and the style in which QGIS opens it."""
    _register(connection, (table, "features", table, about), (*box, _WGS84), now)
    connection.execute(
        "INSERT INTO gpkg_geometry_columns (table_name, column_name, geometry_type_name, srs_id, z, m) "
        "VALUES (?, ?, 'MULTIPOLYGON', ?, 0, 0)",
        (table, _GEOMETRY, _WGS84),
    )
    connection.execute(_STYLES)
    _register(connection, ("layer_styles", "attributes", "layer_styles", ""), (None,) * 5, now)
    connection.execute(
        "INSERT INTO layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, "
        "styleQML, styleSLD, useAsDefault, description, owner, update_time) "
        "VALUES ('', '', ?, ?, 'health', ?, '', 1, ?, '', ?)",
        (table, _GEOMETRY, _style(), "Extents by health", _with_milliseconds(now)),
    )


def _style() -> str:
    """Return the style of extents, which both tables have: a colour for each health, nearly empty inside."""
    return resources.files("geocrawl").joinpath("data/export/extents.qml").read_text("utf-8")


def _register(connection: sqlite3.Connection, table: tuple[str, ...], place: tuple[object, ...], now: str) -> None:
    """Write the description of a table: name, type, identifier, description; its box and reference system."""
    connection.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier, description, last_change, min_x, min_y, max_x, "
        "max_y, srs_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*table, _with_milliseconds(now), *place),
    )
