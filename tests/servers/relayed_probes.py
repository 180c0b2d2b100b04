"""Probe real servers behind relays that break one thing each, with the command that people type."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.servers.relay_defects import DEFECTS, Defect
from tests.servers.relays import relaying
from tests.support.processes import clean_environment

Servers = dict[str, dict[str, Any]]

SERVICES = (
    *((server, "wms") for server in ("mapserver", "qgis", "mapproxy", "mapcache")),
    *((server, "wfs") for server in ("mapserver", "qgis")),
    *((server, "wmts") for server in ("qgis", "mapproxy", "mapcache")),
    *((server, "tms") for server in ("mapproxy", "mapcache")),
    *((server, "ogcapi") for server in ("mapserver", "qgis", "pygeoapi")),
    ("pycsw", "csw"),
)
"""Servers and the kinds of service that each is probed for."""
_LIMIT_S = 600


def probe_relayed(
    servers: Servers, folder: Path, services: Iterable[tuple[str, str]] = SERVICES, defects: Iterable[Defect] = DEFECTS
) -> list[dict[str, Any]]:
    """Return a row for each service behind each relay that makes sense for its kind."""
    names: dict[str, list[str]] = {}
    for name, kind in services:
        names.setdefault(kind, []).append(name)
    chosen = tuple(defects)
    return [row for kind, of_kind in names.items() for row in _of_kind(servers, folder, kind, of_kind, chosen)]


def _of_kind(
    servers: Servers, folder: Path, kind: str, names: list[str], defects: tuple[Defect, ...]
) -> Iterator[dict[str, Any]]:
    with ExitStack() as running:
        addresses, relays = [], {}
        for name in names:
            address = urlsplit(str(servers[name][kind]))
            for defect in (each for each in defects if kind in each.kinds):
                relay = running.enter_context(relaying(address.geturl(), defect.make()))
                relays[urlsplit(relay.origin).netloc] = name, defect, relay
                addresses.append(relay.origin + address.path)
        for verdict in _probed(addresses, kind, folder):
            name, defect, relay = relays[urlsplit(verdict["url"]).netloc]
            yield {
                "server": name,
                "kind": kind,
                "defect": defect.name,
                "verdict": verdict["status"],
                "reason": verdict["reason"],
                "level": verdict.get("level") or "",
                "proof": [f"{each['outcome']}: {each['detail']}" for each in verdict.get("proof") or ()],
                "deviations": verdict["deviations"],
                "requests": len(relay.requests),
            }


def _probed(addresses: Iterable[str], kind: str, folder: Path) -> list[dict[str, Any]]:
    """Return the verdicts of one command on all addresses."""
    command = [sys.executable, "-m", "geocrawl", "probe", *addresses, "--kind", kind, "--maps", "--json"]
    environment = clean_environment(folder) | {"GEOCRAWL_ALLOW_PRIVATE": "true", "GEOCRAWL_DELAY": "0"}
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, text=True, capture_output=True, timeout=_LIMIT_S
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"geocrawl probe ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_expected(row: dict[str, Any], rows: Iterable[dict[str, Any]]) -> bool:
    """Return whether a service behind a relay has the level that it has without a defect.

    Where the defect takes the content away, it is one that answers and delivers nothing.
    """
    alone = next(
        each["level"]
        for each in rows
        if (each["server"], each["kind"], each["defect"]) == (row["server"], row["kind"], DEFECTS[0].name)
    )
    delivers = next(each.delivers for each in DEFECTS if each.name == row["defect"])
    return bool(row["level"] == (alone if delivers else "answers"))
