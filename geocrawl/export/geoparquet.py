"""Write GeoParquet 1.1: a row for each service, extents as well-known binary, with the covering boxes of version 1.1.

pyarrow alone writes it (the extra `geoparquet`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
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
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise needs_extra("--format geoparquet", "pyarrow", "geoparquet") from None
    schema = _schema(pa)
    count = 0
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for rows in _groups(services):
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def _schema(pa: Any) -> Any:
    types = {"INTEGER": pa.int64(), "TEXT": pa.string(), "BOOLEAN": pa.bool_(), "DATETIME": pa.string()}
    types["DOUBLE"] = pa.float64()
    fields = [pa.field(name, types[type_]) for name, type_ in SERVICE_COLUMNS.items()]
    box = pa.struct([pa.field(side, pa.float64()) for side in _SIDES])
    geometry = [pa.field("geometry", pa.binary()), pa.field("bbox", box)]
    return pa.schema([*fields, *geometry], metadata={"geo": json.dumps(_GEO)})


def _groups(services: Iterable[Service]) -> Iterator[list[dict[str, object]]]:
    rows = map(_row, services)
    while group := list(islice(rows, _ROWS_OF_A_GROUP)):
        yield group


def _row(service: Service) -> dict[str, object]:
    extent = extent_of(service.box)
    return {
        **service_properties(service),
        "geometry": wkb_multipolygon(extent) if extent is not None else None,
        "bbox": dict(zip(_SIDES, extent.bounds, strict=True)) if extent is not None else None,
    }
