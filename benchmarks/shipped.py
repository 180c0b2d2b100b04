"""A catalogue on the first day: `geocrawl probe --save` of all endpoints that come with geocrawl, on loopback.

Each endpoint answers as its kind does, with a recorded document; a share of them is dead (no host, 404, a page, an
exception) or takes 20 seconds. They are asked over HTTP, because the server behind the proxy speaks no TLS. The
settings are the defaults.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from geocrawl.cli.shipped import ENDPOINTS, Choice, rows
from tests.support.places import shared_folder
from tests.support.processes import checked, clean_environment, geocrawl
from tests.support.world_crawls import served

ANSWERS = {"valid": 75, "notfound": 15, "html200": 4, "exception": 3, "slow": 3}
"""How an endpoint answers → how many of a hundred do."""
DEAD_HOSTS = 0.08
_OF_A_REQUEST = {"service", "request", "version", "acceptversions", "f", "format"}
_LIKE = {"wmsc": "wms"}
"""Kinds without recorded documents → the kind whose documents they have."""
_MOST_BYTES = 400_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many endpoints are probed."""
    parser.add_argument("--limit", type=int, help="only the first, which are spread over hosts and countries")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return how long all endpoints take, in seconds, CPU, memory, size of the database and requests."""
    endpoints = list(rows(ENDPOINTS, Choice(limit=options.limit)))
    with tempfile.TemporaryDirectory(prefix="geocrawl-shipped-") as name:
        folder = Path(name)
        addresses = [f"http://{row['url'].partition('://')[2]}" for row in endpoints]
        (folder / "addresses.txt").write_text("\n".join(addresses) + "\n", "utf-8")
        _make_world(folder / "world", addresses, [row["kind"] for row in endpoints])
        with served(folder / "world", folder / "access.jsonl") as proxy:
            command = ["probe", "--file", str(folder / "addresses.txt"), "--save", "--db", str(folder / "made.db")]
            done = checked(geocrawl(*command, "--proxy", proxy, "--json"), env=clean_environment(folder), accept=(0, 1))
        requests = Counter(urlsplit(each["url"]).hostname for each in _lines((folder / "access.jsonl").read_text()))
        return {
            "endpoints": len(endpoints),
            "hosts": len({urlsplit(each).hostname for each in addresses}),
            "valid": sum(each["status"] == "valid" for each in _lines(done.stdout)),
            "seconds": round(done.wall_s),
            "cpu_seconds": round(done.cpu_s),
            "memory_mib": round(done.peak_mib),
            "database_mib": round((folder / "made.db").stat().st_size / 2**20),
            "requests": sum(requests.values()),
            "of_the_busiest_host": max(requests.values()),
        }


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    return (json.loads(line) for line in text.splitlines() if line.endswith("}"))


def _make_world(folder: Path, addresses: Sequence[str], kinds: Sequence[str]) -> None:
    """Write a recorded world (docs/evaluation.md) in which the endpoints that are not on dead hosts stand."""
    documents = _documents(folder)
    rng = random.Random(1)
    services = []
    for number, (address, kind) in enumerate(zip(addresses, kinds, strict=True)):
        parts, own = urlsplit(address), _LIKE.get(kind, kind)
        if random.Random(parts.hostname).random() < DEAD_HOSTS or own not in documents:
            continue
        vendor = [(name, value) for name, value in parse_qsl(parts.query) if name.lower() not in _OF_A_REQUEST]
        base = f"http://{parts.netloc}{parts.path}" + (f"?{urlencode(vendor, safe='/:,.')}" if vendor else "")
        (behaviour,) = rng.choices(list(ANSWERS), list(ANSWERS.values()))
        document = rng.choice(documents[own])
        service = {"id": f"{kind}-{number}", "kind": own, "base": base, "behaviour": behaviour, "document": document}
        as_json = {"content_type": "application/json"} if ".json" in document else {}
        services.append(json.dumps({**service, **as_json, "requires": {}, "exposures": []}))
    (folder / "services.jsonl").write_text("\n".join(services) + "\n", "utf-8")
    (folder / "world.json").write_text('{"name": "shipped", "description": "", "seeds": [], "counts": {}}', "utf-8")
    (folder / "pages.warc.gz").write_bytes(gzip.compress(b""))


def _documents(folder: Path) -> dict[str, list[str]]:
    """Copy the recorded documents into a world; return kind → their names."""
    corpus = shared_folder() / "corpus"
    if not corpus.is_dir():
        raise SystemExit(f"no recorded documents at {corpus}: set GEOCRAWL_SHARED")
    (folder / "documents").mkdir(parents=True)
    found = dict[str, list[str]]()
    with (corpus / "manifest.csv").open(encoding="utf-8") as manifest:
        for row in csv.DictReader(manifest):
            file = corpus / "documents" / row["file"]
            if row["label"] in ("broken", "exception", "other") or file.stat().st_size > _MOST_BYTES:
                continue
            content = file.read_bytes()
            name = f"{hashlib.sha1(content, usedforsecurity=False).hexdigest()}{file.suffix}.gz"
            (folder / "documents" / name).write_bytes(gzip.compress(content))
            found.setdefault(row["label"], []).append(name)
    return found
