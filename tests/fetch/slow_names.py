"""A real name server that never answers for some names, in a network of our own (see `own_network`)."""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.model import Failure, HostState, Purpose
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.support.http_server import answer, serve
from tests.support.loop_time import LoopTime
from tests.support.own_network import LOOPBACK, UNSHARE, ask_own_name_server, bring_up
from tests.support.politeness import MemoryPoliteness

_LIMIT_S = 600


def measure(slow: int, good: int) -> dict[str, dict[str, int]]:
    """Ask for a page of each slow name, then of each good one, all at once; return how many ended how."""
    command = [*UNSHARE, sys.executable, "-m", "tests.fetch.slow_names", str(slow), str(good)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=True)
    found: dict[str, dict[str, int]] = json.loads(done.stdout)
    return found


def main() -> None:
    """Within the namespaces: start the name server, make the requests, print how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slow", type=int)
    parser.add_argument("good", type=int)
    given = parser.parse_args()
    bring_up("93.184.216.34")  # with loopback alone, no address family would be looked up
    _serve_names()
    with tempfile.TemporaryDirectory(prefix="geocrawl-slow-names-") as folder:
        ask_own_name_server(Path(folder))
        print(json.dumps(asyncio.run(_ask(given.slow, given.good))))


async def _ask(slow: int, good: int) -> dict[str, dict[str, int]]:
    settings = Settings(allow_private=True, ignore_robots=True, delay_s=0.0, dns_timeout_s=_LIMIT_S)
    fetcher = PoliteFetcher(settings, MemoryPoliteness(), SystemClock(), user_agent="geocrawl/0.0")
    async with serve(lambda target, writer: answer(b"<p>map</p>")) as server:
        asked = [f"http://slow{n}.example:{server.port}/" for n in range(slow)]
        asked += [f"http://good{n}.example:{server.port}/" for n in range(good)]
        limits, asking = LoopTime(), [asyncio.create_task(_outcome(fetcher, address)) for address in asked]
        await asyncio.gather(*asking[slow:])
        limits.move(_LIMIT_S)
        ended = await asyncio.gather(*asking)
    await fetcher.close()
    return {"slow": Counter(ended[:slow]), "good": Counter(ended[slow:])}


async def _outcome(fetcher: PoliteFetcher, address: str) -> str:
    url = read_url(address)
    assert url is not None
    async with fetcher.turn(HostState(url.host)) as turn:
        got = await turn.fetch(url, purpose=Purpose.PAGE)
    return str(got.code) if isinstance(got, Failure) else "ok"


def _serve_names() -> None:
    """Answer on UDP port 53: one A record of loopback, nothing at all for names that begin with `slow`."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((LOOPBACK, 53))

    def respond() -> None:
        while True:
            query, sender = server.recvfrom(512)
            if query[13:].startswith(b"slow"):
                continue
            end = query.index(b"\0", 12) + 5
            is_address = query[end - 4 : end - 2] == b"\0\x01"
            record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(LOOPBACK) if is_address else b""
            server.sendto(
                query[:2] + struct.pack(">HHHHH", 0x8580, 1, is_address, 0, 0) + query[12:end] + record, sender
            )

    threading.Thread(target=respond, daemon=True).start()


if __name__ == "__main__":
    main()
