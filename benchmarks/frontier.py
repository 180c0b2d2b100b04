"""The frontier alone, on disk: `python -m benchmarks.frontier [--rerank] [--postgres] [URLS]` (default 1,000,000).

Links added a second when every link is new; CPU of a typical visit (25 links, 1 or 2 of them new) with its commit and
the next lease, in a frontier of that size; memory. With `--rerank` instead of the visits: the time in which every
waiting link is given a new rank, in the order of their ids and in no order. With `--postgres` on a server of its own,
whose CPU counts by itself. Prints one JSON object.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from geocrawl.model import Lease, Link, Purpose, Rank, RankedLink, Relevance, Settled, State, Url, Visit
from geocrawl.settings import Settings
from geocrawl.store.frontier.frontier import SqlFrontier
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.store import Store

LINKS_A_PAGE = 25
NEW_A_PAGE = 1.5
PAGES_A_HOST = 500
TIERS = (3, 6, 7, 10, 13, 14, 17, 20)
VISITS, VISITS_ON_POSTGRES = 20_000, 5_000


class FixedClock:
    """Stands still: no host ever rests."""

    def now(self) -> float:
        return 1_000_000.0

    def monotonic(self) -> float:
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("the benchmark does not wait")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the frontier is."""

    url: str
    size: Callable[[], int]
    """Bytes of the database."""
    server_cpu: Callable[[], float]
    """Seconds of CPU that its server has taken."""


@contextmanager
def on_sqlite() -> Iterator[Place]:
    """Yield a file in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-bench-") as folder:
        file = Path(folder) / "frontier.db"
        yield Place(f"sqlite:///{file}", lambda: file.stat().st_size, lambda: 0.0)


@contextmanager
def on_postgres() -> Iterator[Place]:
    """Yield a database of a server of its own, with PostgreSQL's defaults: all that is committed is on the disk."""
    from tests.support.postgres import name_of, running_server

    with running_server(hasty=False) as server:
        url = server.new_database()
        statement = f"SELECT pg_database_size('{name_of(url)}')"
        yield Place(url, lambda: int(str(server.command(statement)[0][0])), server.cpu_s)


def main(urls: int, *, rerank: bool = False, postgres: bool = False) -> dict[str, float]:
    """Run on a database of its own; returns the figures."""
    count = VISITS_ON_POSTGRES if postgres else VISITS
    with on_postgres() if postgres else on_sqlite() as place:
        clock = FixedClock()
        store = Store.open(place.url, clock=clock)
        settings = Settings(max_pages_per_host=10**9, max_fruitless_per_pattern=10**9, max_hosts_per_site=10**9)
        frontier = store.frontier(settings, store.catalog(), FrontierOptions(owner="bench:1"))
        frontier.add_seeds([page(0)], Rank(20))
        figures = {
            "urls": float(urls),
            **fill(frontier, urls, place.server_cpu),
            **(reranked(frontier) if rerank else crawl(frontier, urls, place.server_cpu, count)),
        }
        figures["rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        store.close()
        size = place.size()
        figures["database_mib"] = size / 2**20
        figures["bytes_a_url"] = size / (urls + figures.get("new_links_a_visit", 0) * figures.get("visits", 0))
    return {name: round(value, 3) for name, value in figures.items()}


def page(number: int) -> Url:
    """The address of the n-th page; 500 pages a host."""
    host = f"www{number // PAGES_A_HOST}.example.org"
    address = f"http://{host}/department/section-{number % 37}/page-{number}.html"
    return Url(address, address, "http", host, f"http://{host}", "example.org")


def fill(frontier: SqlFrontier, urls: int, server_cpu: Callable[[], float]) -> dict[str, float]:
    """Add `urls` new links, 500 a visit, as a page of links does."""
    chooser = random.Random(1)
    cpu, added, before = 0.0, 1, server_cpu()
    while added < urls:
        links = ranked(range(added, added + 500), chooser)
        start = time.process_time()
        lease = frontier.lease()
        assert lease is not None
        added += frontier.settle(visit(lease, links)).new_links
        cpu += time.process_time() - start
    figures = {"adds_a_cpu_second": added / cpu}
    if before:
        figures["adds_a_server_cpu_second"] = added / (server_cpu() - before)
    return figures


def crawl(frontier: SqlFrontier, urls: int, server_cpu: Callable[[], float], visits: int) -> dict[str, float]:
    """Typical visits, all of them in one process, back to back."""
    before = server_cpu()
    chooser = random.Random(2)
    fresh = urls * 2
    cpu, wall, new = 0.0, 0.0, 0
    for number in range(visits):
        links, fresh = typical_links(number, fresh, chooser)
        start, start_wall = time.process_time(), time.perf_counter()
        lease = frontier.lease()
        assert lease is not None
        result: Settled = frontier.settle(visit(lease, links))
        cpu += time.process_time() - start
        wall += time.perf_counter() - start_wall
        new += result.new_links
    return {
        "visits": float(visits),
        "visit_cpu_ms": 1000 * cpu / visits,
        "visit_wall_ms": 1000 * wall / visits,
        "leases_a_second": visits / wall,
        "new_links_a_visit": new / visits,
        **({"visit_server_cpu_ms": 1000 * (server_cpu() - before) / visits} if before else {}),
    }


def reranked(frontier: SqlFrontier) -> dict[str, float]:
    """New ranks for all that waits: once as a strategy that keeps ids in order gives them, once as any other does."""
    numbers = [each.id for each in frontier.waiting()]
    figures = {"waiting": float(len(numbers))}
    chooser = random.Random(3)
    for order in ("in_order", "shuffled"):
        start, start_wall = time.process_time(), time.perf_counter()
        changed = frontier.rerank((number, Rank(0, chooser.random())) for number in numbers)
        figures[f"rerank_{order}_wall_s"] = time.perf_counter() - start_wall
        figures[f"rerank_{order}_cpu_s"] = time.process_time() - start
        figures[f"rerank_{order}_changed"] = float(changed)
        chooser.shuffle(numbers)
    return figures


def typical_links(number: int, fresh: int, chooser: random.Random) -> tuple[tuple[RankedLink, ...], int]:
    """Navigation that every page of a site repeats, a few links elsewhere, one or two never seen."""
    site = number // 50 * 1000
    count = 1 + (chooser.random() < NEW_A_PAGE - 1)
    numbers = [site + n for n in range(LINKS_A_PAGE - count - 2)]
    numbers += [chooser.randrange(fresh // 2) for _ in range(2)]
    numbers += range(fresh, fresh + count)
    return ranked(numbers, chooser), fresh + count


def ranked(numbers: range | list[int], chooser: random.Random) -> tuple[RankedLink, ...]:
    """Links with a tier each, as gws gives them."""
    # The first found rank highest: depths stay as small as they are on the web.
    return tuple(RankedLink(Link(page(n), f"page {n}"), Rank(TIERS[-min(n.bit_length() // 3 + 1, 8)])) for n in numbers)


def visit(lease: Lease, links: tuple[RankedLink, ...]) -> Visit:
    """A page that was read."""
    assert lease.entry.purpose is Purpose.PAGE
    return Visit(
        lease=lease,
        state=State.VISITED,
        reason="ok",
        host=lease.host,
        at=1_000_000.0,
        http_status=200,
        content_type="text/html",
        size_bytes=14_000,
        elapsed_ms=120.0,
        title="A page about geospatial services",
        relevance=Relevance.SOME,
        score=0.3,
        links=links,
    )


def sizes() -> Iterator[int]:
    """The sizes asked for on the command line."""
    given = [text for text in sys.argv[1:] if not text.startswith("--")]
    yield from (int(text.replace("_", "").replace(",", "")) for text in given or ["1_000_000"])


if __name__ == "__main__":
    for size in sizes():
        print(json.dumps(main(size, rerank="--rerank" in sys.argv, postgres="--postgres" in sys.argv)), flush=True)
