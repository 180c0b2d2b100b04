"""Make large catalogues, 20 layers a service, words as often as in real texts, and time searches in them."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from geocrawl.query.places import shipped_places
from geocrawl.store import Store
from geocrawl.store.catalogue.index.index import SqlSearchIndex
from geocrawl.store.catalogue.search.engine import SearchEngine
from tests.support.places import ROOT
from tests.support.world import ManualClock

LAYERS = 20
LARGEST = "National Survey"
"""The provider with the most services."""
_OF_THE_LARGEST = 50
"""One of so many services is the largest provider's."""
_PROBES = 12
"""Probes of each endpoint."""
QUERIES = (
    *("water", "map", "soil types bavaria", "land use", "wms forest", "kind:wms alive:30d roads", "geology of france"),
    *(
        "土地利用",
        "hydro*",
        '"flood depth"',
        "bathymetry norway",
        "groundwatr levels",
        "wind turbines -solar",
        "population",
    ),
    *(
        "bbox:5,47,15,55 rivers",
        "country:DE noise",
        "level:delivers air quality",
        "",
        "kind:wfs",
        "road network scotland",
    ),
)
CONDITIONS = ("licence:open", "language:de", "time:2010/2020", "field:river_id")
"""Conditions that most services meet, so that a search with one finds nearly as much as without."""
RARE_CONDITIONS = ("language:fr", "time:2023", "field:f17")
"""Conditions that some services meet."""
_ROUNDS = 5
Times = tuple[float, float]
"""Milliseconds of time, and of CPU."""


def latencies(sizes: Sequence[int], folder: Path | None) -> dict[str, Any]:
    """Return the figures of each size; the catalogues are kept in `folder`, if there is one."""
    with tempfile.TemporaryDirectory() as scratch:
        return {str(size): _measure_one(size, (folder or Path(scratch)) / f"search-{size}.db") for size in sizes}


def _measure_one(size: int, path: Path) -> dict[str, Any]:
    if not path.exists():
        fill(path, size)
    row = {
        "services": size,
        "layers": size * LAYERS,
        "index_mib": round(_index_bytes(path) / 2**20, 1),
        **latency(path),
    }
    print(f"   {row}")
    return row


def latency(database: str | Path) -> dict[str, Any]:
    """Return how long searches take in a catalogue, in milliseconds of time and of this process's CPU."""
    with Store.open_readonly(database) as connection:
        index = SqlSearchIndex(connection)
        engine = SearchEngine(index)
        began = time.perf_counter()
        engine.search("warm")
        loaded_s = time.perf_counter() - began
        every_kind = ("", *CONDITIONS, " ".join(CONDITIONS), *RARE_CONDITIONS)
        asked = [_in_turns(engine, index, [f"{each} {text}".strip() for each in every_kind]) for text in QUERIES]
    by_kind = dict(zip(every_kind, zip(*asked, strict=True), strict=True))
    every = np.array([times for each in by_kind[""] for times in each])
    return {
        "first_search_s": round(loaded_s, 2),
        "load_average": round(os.getloadavg()[0], 1),
        **{f"{name}_ms": _rounded(np.percentile(every[:, 0], share)) for name, share in (("p50", 50), ("p95", 95))},
        **{f"{name}_cpu_ms": _rounded(np.percentile(every[:, 1], share)) for name, share in (("p50", 50), ("p95", 95))},
        "cpu_of_conditions": {name: _added(by_kind[""], each) for name, each in by_kind.items() if name},
        "cpu_ms_by_query": {
            text: _rounded(np.median([cpu for _, cpu in each])) for text, each in zip(QUERIES, by_kind[""], strict=True)
        },
    }


def _in_turns(engine: SearchEngine, index: SqlSearchIndex, texts: Sequence[str]) -> list[list[Times]]:
    """Return, for each of some queries, (milliseconds, milliseconds of CPU) of some searches with facets, none of which
    finds answers kept; the queries are asked in turns."""
    times: list[list[Times]] = [[] for _ in texts]
    for _ in range(_ROUNDS):
        for text, of_text in zip(texts, times, strict=True):
            index.forget()
            began, worked = time.perf_counter(), time.process_time()
            engine.search(text, facets=True)
            of_text.append((1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)))
    return times


def _added(without: Sequence[Sequence[Times]], having: Sequence[Sequence[Times]]) -> float:
    """Return by which share the CPU of searches is more with conditions than without: that of the fastest rounds."""
    first, second = (sum(min(cpu for _, cpu in times) for times in each) for each in (without, having))
    return round(second / first - 1, 3)


def _rounded(value: Any) -> float:
    return round(float(value), 1)


def _index_bytes(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        names = "('search_entry', 'search_list', 'search_change')"
        query = f"SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search_text%' OR name IN {names}"
        try:
            return int(connection.execute(query).fetchone()[0])
        except sqlite3.OperationalError:  # built without dbstat
            return 0


def fill(path: Path, size: int) -> None:
    """Make a catalogue: rows written at once, then indexed as after an upgrade."""
    Store.open(path, clock=ManualClock()).close()
    rng = random.Random(size)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for number in range(1, size + 1):
            _add(connection, rng, number)
        connection.execute("COMMIT")
    began = time.monotonic()
    with Store.open(path, clock=ManualClock()):
        pass  # what is missing in the index is added
    print(f"   {size:,} services indexed in {time.monotonic() - began:.0f} s")


_SERVICE = """
INSERT INTO service (id, kind, fingerprint, site, title, abstract, keywords, provider, contact, fees,
  access_constraints, version, formats, online_resource, layer_count, first_seen, west, south, east, north,
  last_ok, best_id, licence, language, time_start, time_end)
VALUES (?1, ?2, 'f' || ?1, 'a.example', ?3, ?4, ?5, ?6, '{}', '', '', '1.3.0', '["image/png"]', '', 20, 1, ?7, ?8, ?9,
  ?10, ?11, ?1, ?12, ?13, ?14, ?15)"""
_ENDPOINT = """
INSERT INTO endpoint
  (id, kind, key, server, url, masked_url, host, site, weak, service_id, status, first_seen, health, level)
VALUES (?1, ?2, ?3, ?1, ?4, ?4, ?5, ?5, 0, ?1, ?6, 1, ?7, ?8)"""
_EVIDENCE = """
INSERT INTO evidence (endpoint_id, signal, page, link, anchor, at) VALUES (?, 'query', ?, ?, 'a map', 1)"""
_LAYER = """
INSERT INTO layer (service_id, position, name, title, abstract, crs, styles, keywords, queryable, fields)
VALUES (?, ?, ?, ?, '', ?, '[]', '[]', 1, ?)"""
_WATCHED = "UPDATE endpoint SET first_seen=?, last_probe=?, last_ok=?, probes=?, deviations=? WHERE id=?"
_PROBE = """
INSERT INTO probe (endpoint_id, at, status, reason, detail, content_type, first_bytes, elapsed_ms, requests, deviations)
VALUES (?, ?, ?, '', '', 'text/xml', '', ?, 1, '[]')"""
_EVENT = "INSERT INTO health_event (endpoint_id, at, before, after, reason) VALUES (?, ?, 'new', 'alive', 'ok')"
_CHANGE = "INSERT INTO change VALUES (NULL, ?, ?, ?, 'layer-added', 'roads', '', '')"
_WORDS = tuple(
    word
    for file in sorted((ROOT / "geocrawl/data/worlds").glob("*.toml"))
    for language in ("en", "en", "de", "zh")
    for word in tomllib.loads(file.read_text("utf-8"))[language].get("nouns", ())
)
_PLACES = tuple(place for place in shipped_places().by_code.values() if place.country)
_CRS = tuple(
    json.dumps(["EPSG:4326", "EPSG:3857", *(f"EPSG:{25800 + n * 7 + k}" for k in range(n))]) for n in range(60)
)


def _add(connection: sqlite3.Connection, rng: random.Random, number: int) -> None:
    place = rng.choice(_PLACES)
    kind = rng.choice(("wms", "wms", "wms", "wfs", "wmts", "arcgis", "ogcapi"))
    title = f"{_some(rng, 2)} {place.title}"
    office = f"Office {int(rng.paretovariate(1.0)) % 5000} {place.title}"
    provider = office if number % _OF_THE_LARGEST else LARGEST
    keywords = json.dumps([_some(rng, 1) for _ in range(4)])
    seen = time.time() - rng.random() * 60 * 86_400
    connection.execute(
        _SERVICE, (number, kind, title, _some(rng, 25), keywords, provider, *place.boxes[0], seen, *_filtered(rng))
    )
    host = f"maps{number % 20_000}.example"
    state = (rng.choice(("valid", "valid", "invalid")), rng.choice(("alive", "alive", "down")))
    address = f"http://{host}/{number}/{kind}"
    connection.execute(
        _ENDPOINT, (number, kind, address[7:], address, host, *state, rng.choice(("delivers", "answers")))
    )
    pages = (f"http://www{number % 5000}.example/maps/{number % 300}/{page}" for page in range(3))
    connection.executemany(_EVIDENCE, ((number, page, address) for page in pages))
    connection.executemany(_LAYER, _layers(rng, number))
    add_past(connection, rng, number)


def _filtered(rng: random.Random) -> tuple[str, str, float, float]:
    """Return licence, language, and first and last time of a service's data; `CONDITIONS` hold for nine in ten."""
    is_met = rng.random() < 0.9
    start = rng.uniform(0, 1.4e9) if is_met else 1.7e9
    return ("CC-BY-4.0", "de", start, 1.5e9) if is_met else ("", rng.choice(("en", "fr", "")), start, 1.8e9)


def add_past(connection: sqlite3.Connection, rng: random.Random, number: int) -> None:
    """Let an endpoint have been probed for some time: probes, a change of health and one of content of some."""
    found = time.time() - rng.uniform(60, 700) * 86_400
    times = sorted(rng.uniform(found, time.time()) for _ in range(_PROBES))
    valid = [rng.random() < 0.9 for _ in times]
    last_ok = max((at for at, ok in zip(times, valid, strict=True) if ok), default=None)
    codes = rng.choices(("[]", '[{"code": "tls-expired"}]', '[{"code": "crs-missing"}]'), (8, 1, 1))[0]
    connection.execute(_WATCHED, (found, times[-1], last_ok, _PROBES, codes, number))
    connection.execute("UPDATE service SET first_seen = ? WHERE id = ?", (found, number))
    rows = zip(times, valid, strict=True)
    connection.executemany(
        _PROBE, ((number, at, "valid" if ok else "invalid", rng.expovariate(1 / 400)) for at, ok in rows)
    )
    if rng.random() < 0.3:
        connection.execute(_EVENT, (number, times[-1]))
        connection.execute(_CHANGE, (number, number, times[-1]))


def _layers(rng: random.Random, number: int) -> Iterator[tuple[int, int, str, str, str, str]]:
    systems = _CRS[min(int(rng.paretovariate(0.8)), len(_CRS) - 1)]
    names = ("river_id", "name", f"f{number % 1000}", f"own_{number}")
    fields = json.dumps([{"name": name, "type": "string"} for name in names])
    for position in range(LAYERS):
        own = ("[]", "[]") if position else (systems, fields if rng.random() < 0.9 else "[]")
        yield number, position, f"layer_{number}_{position}", _some(rng, 2), *own


def _some(rng: random.Random, count: int) -> str:
    """Return words, the first ones of the list the most often; one of ten is a rare one."""
    return " ".join(
        _WORDS[int(len(_WORDS) * rng.random() ** 2)] if rng.random() < 0.9 else f"w{rng.randrange(200_000)}"
        for _ in range(count)
    )
