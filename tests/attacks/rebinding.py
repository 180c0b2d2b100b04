"""DNS rebinding with nothing replaced: a network of our own, where a name changes its address between two look-ups.

The crawl runs as it always does, in namespaces of Linux (`unshare`): its loopback interface also bears a public address
and that of the metadata service, and its resolver asks a name server that belongs to the attacker. Servers that must
not be reached listen on the private addresses and count connections. No packet leaves the machine.
"""

from __future__ import annotations

import argparse
import json
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.own_network import LOOPBACK, UNSHARE, ask_own_name_server, bring_up
from tests.support.processes import clean_environment, geocrawl, run

PUBLIC = "93.184.216.34"
METADATA = "169.254.169.254"
NAME = "rebind.example"
PORTS = (80, 8080, 8081)
CLOSED_TO_THE_PUBLIC = 8081
FLIPS = {
    "a name that leads to loopback": ([LOOPBACK], [LOOPBACK]),
    "a name that turns to loopback": ([PUBLIC], [LOOPBACK]),
    "a name that turns to metadata": ([PUBLIC], [METADATA]),
    "a public and a loopback address": ([PUBLIC, LOOPBACK], [LOOPBACK, PUBLIC]),
}
"""Attack → (the name server's first answer, its later answers)."""
_LIMIT_S = 600


def attack(name: str, *options: str) -> dict[str, Any]:
    """Carry an attack of FLIPS out; `options` go to the crawls. Returns its figures, see `_attack`."""
    command = [*UNSHARE, sys.executable, "-m", "tests.attacks.rebinding", name, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Within the namespaces: set the stage, crawl twice, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attack", choices=list(FLIPS))
    parser.add_argument("--allow-private", action="store_true", help="to see that the servers count")
    given = parser.parse_args()
    first, later = FLIPS[given.attack]
    bring_up(PUBLIC, METADATA)
    names = NameServer(first, later)
    with tempfile.TemporaryDirectory(prefix="geocrawl-rebinding-") as folder:
        ask_own_name_server(Path(folder))
        victims = [Victim(address, port) for address in (LOOPBACK, METADATA) for port in PORTS]
        webs = [_web(port) for port in PORTS if port != CLOSED_TO_THE_PUBLIC]
        options = ["--allow-private"] if given.allow_private else []
        print(json.dumps(_attack(Path(folder), names, victims, webs, options)))


def _attack(
    home: Path, names: NameServer, victims: list[Victim], webs: list[PublicWeb], more: list[str]
) -> dict[str, Any]:
    """Run two crawls; return their costs, the look-ups and requests, and how visits ended."""
    options = ("--db", str(home / "c.db"), "--strategy", "bfs", "--delay", "0", "--json", "--max-time", "20s", *more)
    # The second crawl knows robots.txt from the first, and has to look the name up again.
    pages = (f"http://{NAME}/", f"http://{NAME}/again")
    done = [run(geocrawl("crawl", page, *options), env=clean_environment(home), limit_s=280) for page in pages]
    with sqlite3.connect(home / "c.db") as connection:
        reasons = dict(connection.execute("SELECT address, coalesce(reason, state) FROM url ORDER BY id").fetchall())
    asked = sum((web.asked for web in webs), Counter[str]())
    return {
        "exit_codes": [each.exit_code for each in done],
        "stderr": "".join(each.stderr for each in done),
        "wall_s": round(sum(each.wall_s for each in done), 3),
        "cpu_s": round(sum(each.cpu_s for each in done), 3),
        "peak_mib": max(each.peak_mib for each in done),
        "looked_up": names.asked,
        "public_asked": dict(asked),
        "private_connections": sum(victim.connections for victim in victims),
        "reasons": reasons,
    }


# --------------------------------------------------------------------------- the stage


class NameServer:
    """An attacker's name server (RFC 1035): A records that change after the first answer, none that may be kept."""

    def __init__(self, first: list[str], later: list[str]) -> None:
        self._first, self._later = first, later
        self.asked = 0
        """Look-ups of the name's addresses."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((LOOPBACK, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            query, sender = self._socket.recvfrom(512)
            self._socket.sendto(self._answer(query), sender)

    def _answer(self, query: bytes) -> bytes:
        end = query.index(b"\0", 12) + 5
        is_address = query[end - 4 : end - 2] == b"\0\x01"
        addresses = []
        if is_address:
            addresses = self._later if self.asked else self._first
            self.asked += 1
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(address) for address in addresses
        )
        return query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(addresses), 0, 0) + query[12:end] + records


class Victim:
    """A server on an address that must not be reached."""

    def __init__(self, address: str, port: int) -> None:
        self.connections = 0
        self._socket = socket.create_server((address, port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            self.connections += 1
            connection.close()


class PublicWeb(ThreadingHTTPServer):
    """The attacker's web at the public address: each answer closes its connection, so that the next needs another."""

    asked: Counter[str]


class _Handler(BaseHTTPRequestHandler):
    server: PublicWeb

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        links = "".join(f'<a href="http://{NAME}:{port}/inside">map</a>' for port in PORTS)
        body = f"<title>maps</title>{links}<a href=/more>wms</a>".encode() if self.path != "/robots.txt" else b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if body else "text/plain")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _web(port: int) -> PublicWeb:
    server = PublicWeb((PUBLIC, port), _Handler)
    server.asked = Counter()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    main()
