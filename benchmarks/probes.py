"""CPU milliseconds of `geocrawl probe` for each recorded capabilities document, with and without proving maps.

Each document is the answer of a host of its own, which has no robots.txt; all hosts are served through a proxy on
loopback, and GetMap is answered with the map that was asked for. The whole command counts, with its start and the
processes that read large answers. The settings are the defaults, but for the delay between two requests to a host.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.probe.particular_servers import Request, drawn
from tests.support.loopback import Handler, Server, running
from tests.support.places import shared_folder
from tests.support.processes import checked, clean_environment, geocrawl

GOAL_DOCUMENTS_PER_CPU_MINUTE = 1000
KINDS = ("wms", "wfs", "wmts", "wcs", "csw", "wps", "sos")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how often each document is asked for."""
    parser.add_argument("--runs", type=int, default=3, help="runs of each, the median counts [3]")
    parser.add_argument("--hosts", type=int, default=3, help="hosts that answer with the same document [3]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Probe all recorded capabilities."""
    documents = _documents(shared_folder() / "corpus" / "documents", options.hosts)
    maps_of = {host: path for host, path in documents.items() if host.startswith("wms")}
    figures: dict[str, Any] = {"runs": options.runs, "hosts_for_a_document": options.hosts}
    for name, of, more in (
        ("one document", dict([next(iter(documents.items()))]), ()),
        ("all kinds", documents, ()),
        ("wms", maps_of, ()),
        ("wms, with maps", maps_of, ("--maps",)),
    ):
        figures[name] = _median([_measure(of, *more) for _ in range(options.runs)])
        print(f"   {name:<16} {figures[name]}", flush=True)
    too_few = figures["all kinds"]["documents_per_cpu_minute"] < GOAL_DOCUMENTS_PER_CPU_MINUTE
    missed = [f"fewer than {GOAL_DOCUMENTS_PER_CPU_MINUTE} documents a CPU minute"] if too_few else []
    return {**figures, "missed": missed}


def _documents(folder: Path, hosts: int) -> dict[str, Path]:
    """Return host → the document that it answers with."""
    if not folder.is_dir():
        raise SystemExit(f"no recorded documents at {folder}: set GEOCRAWL_SHARED")
    files = [path for kind in KINDS for path in sorted((folder / kind).iterdir())]
    return {
        f"{path.parent.name}{number}-{host}.example": path for number, path in enumerate(files) for host in range(hosts)
    }


def _measure(documents: dict[str, Path], *options: str) -> dict[str, Any]:
    """Probe the hosts in one run of the command; return its costs and counts."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-probes-") as temporary, running(_Web(documents)) as web:
        folder = Path(temporary)
        addresses = (
            f"http://{host}/ows?SERVICE={path.parent.name.upper()}&REQUEST=GetCapabilities"
            for host, path in documents.items()
        )
        (folder / "list.txt").write_text("\n".join(addresses), encoding="utf-8")
        proxy = f"http://127.0.0.1:{web.server_address[1]}"
        loopback = ("--proxy", proxy, "--delay", "0", "--quiet")
        command = geocrawl("probe", "--file", str(folder / "list.txt"), "--json", *loopback, *options)
        done = checked(command, env=clean_environment(folder))
        verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(verdicts) == len(documents), "each document has a verdict"
    return {
        "documents": len(documents),
        "cpu_s": done.cpu_s,
        "wall_s": done.wall_s,
        "documents_per_cpu_minute": round(60 * len(documents) / done.cpu_s),
        "cpu_ms_a_document": round(1000 * done.cpu_s / len(documents), 1),
        "requests": web.requests.total(),
        "maps": web.requests["GetMap"],
        "verdicts": dict(Counter(verdict["status"] for verdict in verdicts)),
        "levels": dict(Counter(verdict["level"] for verdict in verdicts if verdict.get("level"))),
    }


def _median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the run with the median CPU time, and the CPU seconds of all."""
    ordered = sorted(runs, key=lambda run: float(run["cpu_s"]))
    return {**ordered[len(ordered) // 2], "cpu_s_all": [run["cpu_s"] for run in runs]}


class _Web(Server):
    """A proxy that answers for every host; the answers to requests for maps are drawn."""

    def __init__(self, documents: dict[str, Path]) -> None:
        super().__init__(_Handler)
        self.bodies = {host: path.read_bytes() for host, path in documents.items()}
        self.requests = Counter[str]()


class _Handler(Handler):
    server: _Web

    def respond(self) -> None:
        """Answer with the host's document, a map, or 404."""
        parts = urlsplit(self.path)
        request = Request(parts.path, {name.upper(): value for name, value in parse_qsl(parts.query)})
        asked = request.get("REQUEST")
        self.server.requests[asked or parts.path] += 1
        if asked == "GetMap" or asked == "map":
            reply = drawn(request)
            self._send(200, reply.media_type, reply.body)
        elif parts.path == "/ows" and parts.hostname in self.server.bodies:
            self._send(200, "text/xml", self.server.bodies[parts.hostname])
        else:
            self._send(404, "text/plain", b"not here")

    def _send(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body)
