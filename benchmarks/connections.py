"""CPU milliseconds of one request by `fetch.http` while connections to so many hosts are kept open.

The hosts are addresses of loopback that one other process answers for; each is asked in turn, 50 requests at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from typing import Any

from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.http import HttpClient
from geocrawl.fetch.proxy import EnvironmentProxies
from geocrawl.model import Failure, Purpose
from geocrawl.resources import allow_open_files
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.support.http_server import answer
from tests.support.politeness import MemoryPoliteness

_AT_ONCE = 50
_BODY = answer(b"<p>Maps and data of the region</p>" * 100)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many hosts, and how many requests."""
    parser.add_argument("--hosts", type=int, nargs="+", default=[16, 50, 200, 1000], help="[16 50 200 1000]")
    parser.add_argument("--requests", type=int, default=4000, help="requests at each number of hosts [4000]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the milliseconds at each number of hosts."""
    allow_open_files(_AT_ONCE)
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(max(options.hosts), there), daemon=True)
    server.start()
    try:
        port, rows = here.recv(), []
        for hosts in options.hosts:
            cpu_s = asyncio.run(_asked(hosts, port, max(options.requests, 2 * hosts)))
            rows.append({"hosts": hosts, "cpu_ms_a_request": round(1000 * cpu_s, 3)})
            print(f"   {rows[-1]}", flush=True)
    finally:
        server.terminate()
    return {"requests": options.requests, "load": round(os.getloadavg()[0], 1), "requests_at": rows}


def _host(number: int) -> str:
    return f"127.0.{1 + number // 200}.{1 + number % 200}"


def _serve(hosts: int, ready: Connection) -> None:
    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(_BODY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        first = await asyncio.start_server(answered, _host(0), 0)
        port = first.sockets[0].getsockname()[1]
        others = await asyncio.start_server(answered, [_host(number) for number in range(1, hosts)], port)
        ready.send(port)
        await others.serve_forever()

    allow_open_files(hosts)
    asyncio.run(run())


async def _asked(hosts: int, port: int, requests: int) -> float:
    """Return CPU seconds a request, after each host was asked once."""
    clock, settings = SystemClock(), Settings(allow_private=True, delay_s=0.0)
    client = HttpClient(settings, clock, EnvironmentProxies(), MemoryPoliteness(clock, settings), user_agent="measure")
    places = asyncio.Semaphore(_AT_ONCE)

    async def get(number: int) -> None:
        url = read_url(f"http://{_host(number % hosts)}:{port}/{number}")
        assert url is not None, "it is an address"
        async with places:
            if isinstance(got := await client.get(url, Purpose.PAGE), Failure):
                raise SystemExit(str(got))

    await asyncio.gather(*map(get, range(hosts)))
    begun = time.process_time()
    await asyncio.gather(*map(get, range(requests)))
    spent = time.process_time() - begun
    await client.close()
    return spent / requests
