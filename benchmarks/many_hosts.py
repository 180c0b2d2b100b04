"""Crawls of many polite hosts with default settings: pages a second, CPU a page, memory, seconds without a page.

Each address of loopback is a host with a home page that links 30 pages of its own and five other hosts; one process
answers for all of them after `--latency` seconds. Every host is a start page. Politeness allows as many pages a second
as there are hosts, and is read from the server's own times: what comes too early or twice at once ends the measurement.
Scrapy crawls the same hosts in turn, where it can be installed; it judges no page and keeps nothing on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks import other_crawlers
from geocrawl.resources import allow_open_files
from tests.support.http_server import answer
from tests.support.processes import Started, clean_environment, geocrawl

_PAGES, _OTHERS = 30, 5
"""Pages of a host that its home page links, and other hosts."""
_SETTLED_S = 5.0
"""After the first page, so long is not counted as time without a page."""
_LEAST_GAP_S = 0.95
"""The delay is a second; the server's clock reads a request when it arrives."""
_SCRAPY = "Scrapy"
_COMPARED = ("pages_a_second", "cpu_ms_a_page")
_FILL = "Maps, layers and water quality of the region, published by the survey with all its data and services. " * 40
Visits = dict[int, list[tuple[float, float]]]
"""Number of a host → (begin, end) of its answers, robots.txt first."""
Answered = Callable[[int, str, int], bytes]
"""Returns an answer by the number of a host, the path of a request, and the port of all hosts."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the sizes of the table, and what makes the web slower."""
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 5, 50, 500, 5000], help="[1 5 50 500 5000]")
    parser.add_argument("--under-way", type=int, nargs="+", default=[5, 64, 200], help="requests at once [5 64 200]")
    parser.add_argument("--strategies", nargs="+", default=["fusion", "gws", "bfs"], help="[fusion gws bfs]")
    parser.add_argument("--no-scrapy", action="store_true", help="leave out Scrapy")
    parser.add_argument("--seconds", type=float, default=40.0, help="of each crawl [40]")
    parser.add_argument("--latency", type=float, default=0.1, help="seconds until an answer [0.1]")
    parser.add_argument("--silent", type=int, default=0, help="first hosts that never answer [0]")
    parser.add_argument("--numbered", action="store_true", help="pages of all hosts have the same paths")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row for each number of hosts, of requests under way, and crawler: a strategy of ours, or Scrapy."""
    crawlers = list(options.strategies)
    told = {name: getattr(options, name) for name in ("seconds", "latency", "silent", "numbered")}
    if not options.no_scrapy:
        try:
            other_crawlers.install()
            crawlers.append(_SCRAPY)
        except (OSError, subprocess.CalledProcessError) as error:
            told["without_scrapy"] = f"not installed: {error}"
    first = argparse.Namespace(**{**vars(options), "seconds": 5.0, "silent": 0})
    _one_crawl(1, 1, options.strategies[0], first)  # a new environment has no bytecode yet: that is no cost of a page
    rows = []
    for hosts in options.hosts:
        for under_way in options.under_way:
            found = {crawler: _one_crawl(hosts, under_way, crawler, options) for crawler in crawlers}
            peer = found.get(_SCRAPY, {})
            for crawler, figures in found.items():
                row: dict[str, Any] = {"hosts": hosts, "under_way": under_way, "crawler": crawler, **figures}
                for name in _COMPARED:
                    if peer.get(name) and crawler != _SCRAPY:
                        row[f"{name}_times_scrapy"] = round(figures[name] / peer[name], 2)
                rows.append(row)
                print(f"   {row}", flush=True)
    return {**told, "load": round(os.getloadavg()[0], 1), "crawls": rows}


def _one_crawl(hosts: int, under_way: int, crawler: str, options: argparse.Namespace) -> dict[str, float]:
    allow_open_files(under_way)
    page = partial(_page, hosts=hosts, numbered=options.numbered)
    with serving(hosts, page, latency=options.latency, silent=options.silent) as (port, here):
        with tempfile.TemporaryDirectory(prefix="geocrawl-hosts-") as name:
            folder = Path(name)
            seeds = folder / "seeds.txt"
            seeds.write_text("".join(f"http://{loopback_host(number)}:{port}/\n" for number in range(hosts)))
            command = other_crawlers.many_hosts(under_way, seeds)
            if crawler != _SCRAPY:
                where = ("--seeds", str(seeds), "--db", str(folder / "c.db"), "--allow-private")
                how = ("--strategy", crawler, "--workers", str(under_way), "--max-pages", "1000000", "--quiet")
                command = geocrawl("crawl", *where, *how)
            begun = time.time()
            crawl = Started(command, env=clean_environment(folder))
            while crawl.running() and time.time() < begun + options.seconds:
                time.sleep(0.05)
            ended = time.time()
            if crawl.running():
                crawl.terminate()
            run = crawl.wait(limit_s=120)  # Scrapy ends when all that it has begun is answered
        here.send("times")
        visits: Visits = here.recv()
    if run.exit_code not in (0, 1):
        raise SystemExit(f"{crawler} ended with {run.exit_code}: {run.stderr[-500:]}")
    if crawler != _SCRAPY:
        _demand_politeness(visits)
    return _figures(visits, begun, ended) | {
        "cpu_ms_a_page": round(1000 * run.cpu_s / max(sum(len(each) - 1 for each in visits.values()), 1), 2),
        "peak_mib": round(run.peak_mib),
    }


def _demand_politeness(visits: Visits) -> None:
    for host, times in visits.items():
        for (begun, ended), (following, _) in pairwise(times):
            if following < ended or following - begun < _LEAST_GAP_S:
                raise SystemExit(f"{loopback_host(host)}: asked again after {following - begun:.2f} s")


def _figures(visits: Visits, begun: float, ended: float) -> dict[str, float]:
    """Return pages a second, seconds to the first page, and the longest time without one."""
    pages = sorted(begin for times in visits.values() for begin, _ in times[1:] if begin <= ended)
    if not pages:
        return {"pages_a_second": 0.0, "longest_idle_s": round(ended - begun, 2)}
    late = [at for at in pages if at > pages[0] + _SETTLED_S]
    idle = max((following - at for at, following in pairwise([*late, ended])), default=0.0)
    rate, first = len(pages) / (ended - begun), pages[0] - begun
    return {"pages_a_second": round(rate, 1), "first_page_s": round(first, 2), "longest_idle_s": round(idle, 2)}


def loopback_host(number: int) -> str:
    """Return the address of a host."""
    return f"127.{1 + number // 40_000}.{1 + number // 200 % 200}.{1 + number % 200}"


def _page(host: int, path: str, port: int, *, hosts: int, numbered: bool) -> bytes:
    if path == "/robots.txt":
        return answer(b"User-agent: *\nDisallow: /private/\n")
    links = []
    if path == "/":
        folder = "" if numbered else "/" + "".join(chr(97 + host // 26**place % 26) for place in range(3))
        links = [f"{folder}/p{page}.html" for page in range(_PAGES)]
        links += [f"http://{loopback_host((host * _OTHERS + n) % hosts)}:{port}/" for n in range(1, _OTHERS + 1)]
    named = "".join(f'<a href="{link}">Geoportal {link}</a> ' for link in links)
    return answer(f"<title>Survey {host} {path}</title><p>{_FILL}</p>{named}".encode())


@contextmanager
def serving(
    hosts: int, answered: Answered, *, latency: float = 0.0, silent: int = 0
) -> Iterator[tuple[int, Connection]]:
    """Answer for hosts in another process; yield their port, and a connection that sends the times of all answers
    when something is sent to it. `answered`: returns the answer to a request."""
    here, there = multiprocessing.Pipe()
    values = (hosts, answered, latency, silent, there)
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=values, daemon=True)
    server.start()
    try:
        yield here.recv(), here
    finally:
        server.kill()
        server.join()


def _serve(hosts: int, answer_to: Answered, latency: float, silent: int, here: Connection) -> None:
    visits: Visits = defaultdict(list)
    number_of = {loopback_host(number): number for number in range(hosts)}
    port = 0

    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = number_of[writer.get_extra_info("sockname")[0]]
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                begun = time.time()
                await asyncio.sleep(600 if host < silent else latency)
                writer.write(answer_to(host, head.split(b" ", 2)[1].decode(), port))
                visits[host].append((begun, time.time()))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def tell() -> None:
        try:
            here.recv()
        except EOFError:  # who asked was killed
            sys.exit(1)
        here.send(dict(visits))

    async def run() -> None:
        nonlocal port
        first = await asyncio.start_server(answered, loopback_host(0), 0)
        port = first.sockets[0].getsockname()[1]
        if hosts > 1:
            await asyncio.start_server(answered, [loopback_host(number) for number in range(1, hosts)], port)
        asyncio.get_running_loop().add_reader(here.fileno(), tell)
        here.send(port)
        await first.serve_forever()

    allow_open_files(3 * hosts)
    asyncio.run(run())
