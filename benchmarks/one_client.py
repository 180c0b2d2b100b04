"""`geocrawl serve` with one client that sends 200 of the dearest requests at once, again and again, beside a visitor.

Each kind of dear request by itself: how long the visitor waits for an ordinary page, and the memory of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import multiprocessing
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.large_catalogues import fill
from benchmarks.visitors import ITEMS, free_port, served, worst
from tests.servers.mapservers import interpreter
from tests.support.loopback import Handler, Server, running

LAYERS, SYSTEMS, POINTS = 1_000, 6_000, 90_000
"""Layers of the large service, reference systems that they inherit, and points of each preview."""
GOAL_S, GOAL_MIB = 1.0, 400
_CSW = "/?service=CSW&version=2.0.2&request="
_RECORDS = f"{_CSW}GetRecords&typenames=csw:Record&resulttype=results&elementsetname=full&maxrecords=100&startposition="


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of requests at once, the size of the catalogue, how long each kind is measured, and the rate."""
    parser.add_argument("--at-once", type=int, default=200, help="[200]")
    parser.add_argument("--services", type=int, default=10_000, help="[10,000]")
    parser.add_argument("--seconds", type=float, default=5, help="of each kind [5]")
    parser.add_argument("--rate", type=int, default=600, help="as of serve [600]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the visitor's waits in seconds beside each kind, and what was missed of the goals."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-one-client-") as name, _features() as features:
        path = Path(name) / "made.db"
        fill(path, options.services)
        large = _add_large(path, features)
        environ = {"GEOCRAWL_ALLOW_PRIVATE": "1", "GEOCRAWL_DELAY": "0", "GEOCRAWL_CSW_PYTHON": str(interpreter())}
        port, csw_port = free_port(), free_port()
        arguments = ["--rate", str(options.rate)]
        arguments += ["--csw", "--csw-port", str(csw_port)] if interpreter().is_file() else []
        with served(path, environ, port, *arguments) as process:
            rows, every = {}, list[float]()
            for kind, path_of in _kinds(large).items():
                of_csw = kind == "csw"
                waits, codes, others = _beside(csw_port if of_csw else port, path_of, of_csw, options)
                every += waits if kind != "nothing" else []
                rows[kind] = {
                    **_percentiles(waits),
                    "n": len(waits),
                    **_memory(process),
                    "codes": codes,
                    "of the client": others,
                }
                print(f"   {kind:10} {rows[kind]}")
    whole = _percentiles(every)
    missed = [
        *([f"p99 {whole['p99']} s, not under {GOAL_S} s"] if every and whole["p99"] >= GOAL_S else []),
        *(
            f"{kind}: {row['peak_mib']} MiB, not under {GOAL_MIB}"
            for kind, row in rows.items()
            if row["peak_mib"] >= GOAL_MIB
        ),
    ]
    return {"kinds": rows, "all": whole, "missed": missed}


def _kinds(large: int) -> Mapping[str, Callable[[int], str] | None]:
    """Return what is dear, by name: the number of a request → its path, so that no answer is one that is kept."""

    def of(*paths: str) -> Callable[[int], str]:
        return lambda number: (
            paths[number % len(paths)]
            .replace("NUMBER", str(number))
            .replace("PAGE", str(1 + number * 37 % 8_000))
            .replace("YEAR", str(2030 + number % 7_000))
        )

    items = f"{ITEMS}/{large}"
    return {
        "nothing": None,
        "searches": worst,
        "pages": of(
            f"{ITEMS}?f=html&facets=true&limit=1000&q=a*&offset=PAGE", f"{ITEMS}?limit=1000&offset=PAGE&facets=true"
        ),
        "layers": of(
            "/layers?q=layer&limit=1000&offset=PAGE",
            "/layers?q=zauber&limit=1000&facets=true&lang=zh&offset=NUMBER",
            "/layers?q=a*&limit=1000&f=html&offset=PAGE",
            "/layers?q=m*&f=gpkg&offset=PAGE",
            "/layers?q=c*&f=csv&offset=PAGE",
            "/layers?q=s*&f=qlr&offset=PAGE",
        ),
        "files": of(
            *(
                f"{ITEMS}?f={form}&limit=1000&offset=PAGE"
                for form in ("csv", "geojson", "gpkg", "qgis", "dcat", "jsonld", "iso19139", "iso19115-3")
            )
        ),
        "service": of(
            *(
                f"{items}{end}NUMBER"
                for end in (
                    "?f=html&layer=1&lang=en&_=",
                    "/layers?layers=zauber+",
                    "/layer.qlr?layer=1&_=",
                    "?f=iso19139&_=",
                    "?f=dcat&_=",
                    "?f=json&_=",
                    "/changes?_=",
                    "/history?_=",
                )
            )
        ),
        "ids": lambda number: (
            f"{ITEMS}?limit=200&ids=" + ",".join(str(1 + (number * 37 + each) % 9_000) for each in range(200))
        ),
        "feeds": of(
            "/feed.atom?q=a*+-zNUMBER",
            "/oai?verb=ListRecords&metadataPrefix=iso19139&until=YEAR-01-01",
            "/oai?verb=ListIdentifiers&metadataPrefix=oai_dc&until=YEAR-01-01",
            "/feed.json?q=b*+-zNUMBER",
            "/sitemap.xml?_=NUMBER",
            "/sitemap-1.xml?_=NUMBER",
        ),
        "overviews": of(
            "/?f=html&_=NUMBER",
            "/statistics?_=NUMBER",
            "/operations?_=NUMBER",
            "/providers?_=NUMBER&f=html",
            "/status?_=NUMBER",
            "/api?_=NUMBER",
            "/providers?name=National+Survey&_=NUMBER",
        ),
        "previews": lambda number: f"{ITEMS}/{large + 1}/preview?layer=0&bbox={number / 1e4:.4f},0,150,60",
        "csw": of(
            f"{_RECORDS}PAGE",
            f"{_RECORDS}PAGE&outputschema=http://www.isotc211.org/2005/gmd",
            f"{_CSW}GetDomain&propertyname=csw:AnyText,dc:title,dct:abstract&_=NUMBER",
        ),
    }


def _ordinary(number: int) -> str:
    return (
        f"{ITEMS}?q=water&offset={number}&limit=20",
        f"{ITEMS}/{number * 7 % 9_000 + 1}",
        "/robots.txt",
        f"/layers?q=soil&f=html&offset={number}",
    )[number % 4]


def _beside(port: int, kind: Callable[[int], str] | None, of_csw: bool, options: argparse.Namespace) -> Any:
    """Return the visitor's waits, the codes of its answers and of those of the client beside it."""
    found: Any = multiprocessing.Queue()
    attack = multiprocessing.Process(target=_attack, args=(port, kind, options.at_once, found))
    begun = time.monotonic()
    if kind is not None:
        attack.start()
        time.sleep(0.5)
    waits, codes, numbers = list[float](), Counter[int](), itertools.count(int(begun * 10) % 3_000)
    while time.monotonic() < begun + options.seconds + 0.5:
        number = next(numbers)
        path = f"{_RECORDS.replace('100', '10')}{1 + number % 5_000}" if of_csw else _ordinary(number)
        asked = time.perf_counter()
        codes[_status(port, path, f"127.0.{1 + number // 250 % 200}.{1 + number % 250}")] += 1
        waits.append(time.perf_counter() - asked)
        time.sleep(0.02)
    others = {}
    if kind is not None:
        attack.terminate()
        attack.join()
        with suppress(Exception):
            while True:
                others = found.get(timeout=0.2)
    time.sleep(1)
    return waits, dict(codes), others


def _status(port: int, path: str, source: str) -> int:
    try:
        with closing(
            http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0))
        ) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            return answer.status
    except OSError:
        return 0


def _attack(port: int, path_of: Callable[[int], str], at_once: int, found: Any) -> None:
    """Send so many requests at once; when each has an answer, as many again."""
    numbers, codes = itertools.count(int(time.time() * 1000) % 100_000), Counter[str]()

    async def ask(client: httpx.AsyncClient) -> None:
        try:
            async with client.stream("GET", path_of(next(numbers))) as answer:
                async for chunk in answer.aiter_raw():
                    codes["bytes"] += len(chunk)
                codes[str(answer.status_code)] += 1
        except httpx.HTTPError as error:
            codes[type(error).__name__] += 1
        found.put(dict(codes))

    async def attack() -> None:
        limits = httpx.Limits(max_connections=None)
        transport = httpx.AsyncHTTPTransport(local_address="127.0.0.2", limits=limits)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=60) as client:
            while True:
                await asyncio.gather(*(ask(client) for _ in range(at_once)))
                await asyncio.sleep(0.2)

    asyncio.run(attack())


def _percentiles(waits: list[float]) -> dict[str, float]:
    return {f"p{part}": round(float(np.percentile(waits, part)), 3) for part in (50, 90, 99)} if waits else {}


def _memory(process: int) -> dict[str, int]:
    """Return MiB of a process now and at most so far; the time begins again."""
    status = Path(f"/proc/{process}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return {name: int(lines[key].split()[0]) // 1024 for name, key in (("peak_mib", "VmHWM"), ("mib", "VmRSS"))}


# --------------------------------------------------------------------------- what is dear in the catalogue


def _add_large(path: Path, features: str) -> int:
    """Add a service of many layers and one of features that are dear to draw; return the number of the first."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        number: int = writer.execute("SELECT max(id) + 1 FROM service").fetchone()[0]
        address = f"{features}/wfs"
        writer.execute("BEGIN")
        for each, kind, url in ((number, "wms", "http://maps.example/large"), (number + 1, "wfs", address)):
            for table in ("service", "endpoint"):
                names = [row[1] for row in writer.execute(f"PRAGMA table_info({table})")]
                given = {
                    "id": each,
                    "kind": kind,
                    "service_id": each,
                    "best_id": each,
                    "url": url,
                    "masked_url": url,
                    "key": url[7:],
                    "server": each,
                    "host": url.split("/")[2].split(":")[0],
                    "status": "valid",
                    "title": "Zauberfluss",
                    "layer_count": LAYERS if kind == "wms" else 1,
                    "fingerprint": f"g{each}",
                    "keywords": json.dumps([f"keyword {n}" for n in range(1_000)]),
                }
                shown = ", ".join("?" if name in given else name for name in names)
                values = [given[name] for name in names if name in given]
                writer.execute(
                    f"INSERT INTO {table} ({', '.join(names)}) SELECT {shown} FROM {table} WHERE id = 1", values
                )
        columns = "service_id, position, parent, name, title, abstract, crs, styles, keywords, queryable, item, formats"
        root = json.dumps([f"EPSG:{n}" for n in (4326, 3857, *range(20_000, 20_000 + SYSTEMS))])
        rows: list[Any] = [(number, 0, None, "", "all", "", root, "[]", "[]", 0, "layer", "[]", "[]")]
        styles = json.dumps([{"name": f"s{n}", "title": f"style {n}"} for n in range(20)])
        rows += [
            (
                number,
                n,
                0,
                f"r{n}",
                f"Zauberfluss {n}",
                "x" * 300,
                f'["EPSG:{n}"]',
                styles,
                "[]",
                1,
                "layer",
                "[]",
                "[]",
            )
            for n in range(1, LAYERS + 1)
        ]
        rows.append(
            (
                number + 1,
                0,
                None,
                "roads",
                "Roads",
                "",
                '["EPSG:4326"]',
                "[]",
                "[]",
                0,
                "feature-type",
                '["application/json"]',
                "[]",
            )
        )
        writer.executemany(f"INSERT INTO layer ({columns}, fields) VALUES ({','.join('?' * 13)})", rows)
        writer.execute("COMMIT")
    from geocrawl.store import Store
    from tests.support.world import ManualClock

    with Store.open(path, clock=ManualClock()):
        pass
    return number


@contextmanager
def _features() -> Iterator[str]:
    """A server of features with many points; its address."""
    line = [[round(n * 0.001, 3), round(n * 0.0005, 4)] for n in range(POINTS)]
    body = json.dumps(
        {
            "type": "FeatureCollection",
            "features": [
                {
                    "type": "Feature",
                    "properties": {"a" * 50: "b" * 1_500_000},
                    "geometry": {"type": "LineString", "coordinates": line},
                }
            ],
        }
    ).encode()

    class Features(Handler):
        def respond(self) -> None:
            self.send_response(200 if "wfs" in self.path else 404)
            sent = body if "wfs" in self.path else b""
            self.send_header("Content-Type", "application/geo+json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.write(sent)

    with running(Server(Features)) as server:
        yield f"http://127.0.0.1:{server.server_port}"
