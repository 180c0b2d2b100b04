"""Write GeoJSON (RFC 7946): a collection with a feature for each service, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TextIO

from geocrawl.export.extents import geojson_geometry
from geocrawl.export.properties import service_properties
from geocrawl.model.published import PublishedService


def write_geojson(services: Iterable[PublishedService], stream: TextIO) -> int:
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
