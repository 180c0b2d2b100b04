"""A catalogue of made services, written at once: for measurements of what reads a large one."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from geocrawl.store import Store
from tests.support.world import ManualClock

LAYERS_EACH = 5
_KINDS = ("wms", "wms", "wms", "wms", "wfs", "wfs", "wmts", "arcgis", "arcgis", "ogcapi", "wcs", "csw", "stac", "tms")
_WORDS = ("roads", "rivers", "forest", "soil", "parcels", "geology", "土地利用", "Gewässer", "cadastre", "noise")
_TEXT = "A service of maps for the public, with data of the survey; free to use, the office is named as source. "


def make_catalogue(path: Path, services: int, seed: int = 1) -> None:
    """Write a new catalogue at `path`: services of several kinds, each with one address and `LAYERS_EACH` layers."""
    Store.open(path, clock=ManualClock()).close()
    draw = random.Random(seed)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        with connection:
            for table, rows in (
                ("service", _services(services, draw)),
                ("endpoint", _endpoints(services)),
                ("layer", _layers(services, draw)),
                ("proof", _proofs(services)),
                ("evidence", _evidence(services)),
            ):
                _insert(connection, table, rows)


def _insert(connection: sqlite3.Connection, table: str, rows: Iterator[dict[str, object]]) -> None:
    first = next(rows, None)
    if first is None:
        return
    names = ", ".join(first)
    places = ", ".join(f":{name}" for name in first)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", first)
    connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)


def _kind(number: int) -> str:
    return _KINDS[number % len(_KINDS)]


def _url(number: int) -> str:
    host = f"http://maps{number % 5_000}.example"
    if _kind(number) == "arcgis":
        return f"{host}/arcgis/rest/services/S{number}/{('Map', 'Feature')[number % 2]}Server"
    return f"{host}/ows{number}?map=/a/{number}.map"


def _evidence(count: int) -> Iterator[dict[str, object]]:
    for number in range(1, count + 1):
        page = f"http://www{number % 500}.example/maps/{number % 50}"
        yield {"endpoint_id": number, "signal": "query", "page": page, "link": _url(number), "anchor": "", "at": 1.6e9}


def _services(count: int, draw: random.Random) -> Iterator[dict[str, object]]:
    for number in range(1, count + 1):
        west, south = draw.uniform(-180, 160), draw.uniform(-90, 80)
        yield {
            "id": number,
            "kind": _kind(number),
            "fingerprint": f"f{number}",
            "site": "example",
            "title": f"{draw.choice(_WORDS)} of region {number % 9_000} <b>&",
            "abstract": _TEXT * draw.randint(0, 4),
            "keywords": json.dumps(draw.sample(_WORDS, 3), ensure_ascii=False),
            "provider": f"Office {number % 700}",
            "contact": "{}",
            "fees": "none",
            "access_constraints": "",
            "version": "1.3.0",
            "formats": '["image/png", "image/jpeg"]',
            "online_resource": _url(number),
            "layer_count": LAYERS_EACH,
            **dict(zip(("west", "south", "east", "north"), (west, south, west + 15, south + 9), strict=True)),
            "first_seen": 1.6e9 + number,
            "last_ok": 1.7e9 + number,
            "best_id": number,
            "masked_online_resource": _url(number),
        }


def _endpoints(count: int) -> Iterator[dict[str, object]]:
    for number in range(1, count + 1):
        url = _url(number)
        host = url.split("/")[2]
        yield {
            **{"id": number, "kind": _kind(number), "key": url.partition("://")[2], "url": url, "masked_url": url},
            **{"host": host, "site": "example", "weak": 0, "service_id": number, "status": "valid", "reason": "ok"},
            **{"version": "1.3.0", "deviations": "[]", "first_seen": 1.6e9, "last_probe": 1.7e9, "last_ok": 1.7e9},
            **{"probes": 3, "level": "delivers", "cors": "*", "health": "alive"},
        }


def _layers(count: int, draw: random.Random) -> Iterator[dict[str, object]]:
    for number in range(1, count + 1):
        for position in range(LAYERS_EACH):
            yield {
                **{"service_id": number, "position": position, "name": f"layer{position}", "parent": None},
                **{"title": f"{draw.choice(_WORDS)} {position}", "abstract": "", "crs": '["EPSG:4326", "EPSG:3857"]'},
                **{"styles": '["default"]', "keywords": "[]", "queryable": 1},
            }


def _proofs(count: int) -> Iterator[dict[str, object]]:
    for number in range(1, count + 1):
        if _kind(number) == "tms":
            tile = f"http://maps{number % 5_000}.example/1.0.0/t{number}/3/2/1.png"
            yield {
                **{"endpoint_id": number, "position": 0, "layer": "a", "crs": "EPSG:3857", "outcome": "ok"},
                **{"elapsed_ms": 10.0, "detail": "", "url": tile},
            }
