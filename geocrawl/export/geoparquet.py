"""Write GeoParquet 1.1: a row for each service, extents as well-known binary, with the covering boxes of version 1.1;
and Parquet for other tables of the catalogue.

pyarrow alone writes it (the extra `geoparquet`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, BinaryIO

from geocrawl.errors import needs_extra
from geocrawl.export.properties import SERVICE_COLUMNS, extent_of, service_properties, wkb_multipolygon
from geocrawl.model.catalogue import Service

_ROWS_OF_A_GROUP = 10_000
_SIDES = ("xmin", "ymin", "xmax", "ymax")
_GEO = {
    "version": "1.1.0",
    "primary_column": "geometry",
    "columns": {
        "geometry": {
            "encoding": "WKB",
            "geometry_types": ["MultiPolygon"],
            "orientation": "counterclockwise",
            "edges": "planar",
            "covering": {"bbox": {side: ["bbox", side] for side in _SIDES}},
        }
    },
}
"""Without `crs`, coordinates are longitude and latitude of OGC:CRS84 (GeoParquet 1.1, "crs")."""


def write_geoparquet(services: Iterable[Service], stream: BinaryIO) -> int:
    """Write the services in groups of rows; return their number. Raises UsageError without pyarrow."""
    pa = pyarrow()
    box = pa.struct([pa.field(side, pa.float64()) for side in _SIDES])
    geometry = [pa.field("geometry", pa.binary()), pa.field("bbox", box)]
    schema = pa.schema([*_fields(pa, SERVICE_COLUMNS), *geometry], metadata={"geo": json.dumps(_GEO)})
    return _write(pa, schema, map(_row, services), stream)


def write_parquet(columns: Mapping[str, str], rows: Iterable[Mapping[str, object]], stream: BinaryIO) -> int:
    """Write rows with these columns (name → type in SQL); return their number. Raises UsageError without pyarrow."""
    pa = pyarrow()
    return _write(pa, pa.schema(_fields(pa, columns)), rows, stream)


def pyarrow(option: str = "--format geoparquet") -> Any:
    """Return the module pyarrow with its Parquet. Raises UsageError, which names the option, without it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise needs_extra(option, "pyarrow", "geoparquet") from None
    return pyarrow


def _fields(pa: Any, columns: Mapping[str, str]) -> list[Any]:
    types = {"INTEGER": pa.int64(), "TEXT": pa.string(), "BOOLEAN": pa.bool_(), "DATETIME": pa.string()}
    types["DOUBLE"] = pa.float64()
    return [pa.field(name, types[type_]) for name, type_ in columns.items()]


def _write(pa: Any, schema: Any, rows: Iterable[Mapping[str, object]], stream: BinaryIO) -> int:
    count, waiting = 0, iter(rows)
    with pa.parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        while group := list(islice(waiting, _ROWS_OF_A_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def _row(service: Service) -> dict[str, object]:
    extent = extent_of(service.box)
    return {
        **service_properties(service),
        "geometry": wkb_multipolygon(extent) if extent is not None else None,
        "bbox": dict(zip(_SIDES, extent.bounds, strict=True)) if extent is not None else None,
    }
