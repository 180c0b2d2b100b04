"""Probe the zoo of TLS faults with the commands that people type, and return what the commands say of each server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from geocrawl.demo.maps import draw_map
from geocrawl.demo.ows_documents import CapabilitiesContents, capabilities
from tests.support import forked
from tests.support.http_server import answer
from tests.support.tls_zoo import ANIMALS, housed, make_zoo

_MAP = answer(draw_map((7.2, 46.1, 9.4, 47.8), "256", "256", "roads"), content_type="image/png")


def measure(folder: Path, names: Iterable[str] = ANIMALS) -> dict[str, Any]:
    """Probe a WMS of each animal, with and without `--strict-tls`. Return rows of verdicts, and what `status` says."""
    authority = make_zoo(folder)
    with ExitStack() as servers:
        cages = {name: servers.enter_context(housed(name, folder, _wms)) for name in names}
        addresses = {f"{cage.base}/wms": name for name, cage in cages.items()}
        run = _Commands(folder, authority)
        lenient = _by_name(run("probe", *addresses, "--save", "--maps", "--json"), addresses)
        asked = {name: len(cage.targets) for name, cage in cages.items()}
        strict = _by_name(run("probe", *addresses, "--strict-tls", "--json"), addresses)
        found = {addresses[row["url"]]: row for row in json.loads(run("search", "--format", "json"))}
        table = run("search")
        rows = [
            {
                "server": name,
                "verdict": lenient[name]["status"],
                "level": lenient[name].get("level", ""),
                "deviations": lenient[name]["deviations"],
                "requests": asked[name],
                "strict": strict[name]["reason"],
                "search": found[name]["tls"],
                "show": _tolerated(run("show", str(found[name]["id"]))),
            }
            for name in cages
        ]
        return {"servers": rows, "search": table.splitlines(), "status": _line(run("status"), "TLS")}


class _Commands:
    """Runs commands on a catalogue of their own, in an environment that trusts the zoo's authority."""

    def __init__(self, folder: Path, authority: Path) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.lower().startswith(("geocrawl", "http"))}
        self._environment = kept | {
            "GEOCRAWL_DB": str(folder / "catalogue.db"),
            "GEOCRAWL_ALLOW_PRIVATE": "true",
            "GEOCRAWL_DELAY": "0",
            "GEOCRAWL_SIBLINGS": "0",
            "GEOCRAWL_BACKOFF_AFTER": "1000",  # all are one host
            "SSL_CERT_FILE": str(authority),
            "COLUMNS": "160",
        }

    def __call__(self, *arguments: str) -> str:
        done = forked.geocrawl(arguments, env=self._environment, cwd=self._folder)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
        return done.stdout + (done.stderr if arguments == ("search",) else "")


def _wms(target: str) -> bytes | None:
    if not target.startswith("/wms"):
        return None
    if "getmap" in target.lower():
        return _MAP
    described = CapabilitiesContents(
        "Roads", "", (), "Road Office", "http://x.example/wms", (("roads", "Roads"),), (5, 45, 15, 55)
    )
    return answer(capabilities(described, "1.3.0").encode(), content_type="text/xml")


def _by_name(lines: str, addresses: dict[str, str]) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in lines.splitlines()]
    return {addresses[row["url"]]: row for row in rows}


def _tolerated(text: str) -> str:
    return _line(text, "    tolerated: ")


def _line(text: str, begin: str) -> str:
    """Return the rest of the first line that begins so; '' without one."""
    return next((line.removeprefix(begin).strip() for line in text.splitlines() if line.startswith(begin)), "")
