"""Visits that wait for silent servers give their places to others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from geocrawl.app import fetchers, wiring
from geocrawl.app.probe import candidates_at
from geocrawl.app.session import Environment
from geocrawl.crawler.loop import Crawler
from geocrawl.crawler.report import RunSummary
from geocrawl.crawler.slots import LONG_WAIT_S
from geocrawl.lab.recorded_worlds.replay import ReplayTransport, Response
from geocrawl.lab.recorded_worlds.virtual_time import VirtualClock
from geocrawl.model import Url
from geocrawl.settings import SLOW_S, Settings
from geocrawl.store import Store
from geocrawl.urls import read_url
from tests.support.soak import Silent

SILENT_S = 25.0
DELAY_S = 1.5
"""Shorter than the wait after which a visit gives its place up in any case."""


class _Web:
    """A web: some hosts answer at once, and others after a long time."""

    def __init__(self) -> None:
        self.under_way = self.most_under_way = 0

    def respond(self, scheme: str, host: str, target: str) -> Response:
        headers = [("Content-Type", "text/html")]
        if target == "/robots.txt":
            return Response(404, headers, b"", "robots")
        return Response(200, headers, b"<p>a map</p>", "page")


class _Transport(ReplayTransport):
    """Answers in virtual time, and notes when each page was asked for."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(_Web(), clock)
        self._virtual = clock
        self.asked: list[tuple[str, float]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url, answer = self.find(request)
        self.asked.append((url, self._virtual.monotonic()))
        await self._virtual.sleep(SILENT_S if "silent" in url else 0.1)
        return self.deliver(url, answer)


def crawl(
    seeds: list[str],
    *,
    pages: Sequence[str] = (),
    stop_at: float = 0.0,
    delay_s: float = 0.0,
    probes: bool = False,
    **more: int,
) -> tuple[_Transport, RunSummary]:
    """Crawl `seeds` as pages or, with `probes`, as services beside `pages`."""
    clock = VirtualClock()
    transport = _Transport(clock)
    settings = Settings(strategy="bfs", workers=2, delay_s=delay_s, **more)  # type: ignore[arg-type]
    environment = Environment(clock, transport, lambda: transport.pages, new_loop=clock.new_loop)
    with Store.open(Path(":memory:"), clock=clock) as store:
        session = wiring.make_session(settings, store, clock, environment=environment)
        session.frontier.add_candidates(candidates_at(_read(seeds if probes else [])), again=True)
        session.add_seeds(_read(pages if probes else seeds), again=False)
        max_pages = 0 if probes and not pages else 1000
        crawler = wiring.make_crawler(
            session, Silent(), fetchers.make_session_fetcher(session), max_pages=max_pages, patience_s=10.0
        )
        with asyncio.Runner(loop_factory=clock.new_loop) as runner:
            summary = runner.run(_run(crawler, stop_at))
        waiting = store.database.connection.execute("SELECT count(*) FROM host WHERE lease_until > 0").fetchone()
        assert waiting == (0,), "no lease is left"
        is_cut_off = summary.stopped in ("signal", "slow")
        assert (session.frontier.ready_at() is not None) == is_cut_off, "what was cut off waits"
    return transport, summary


def _read(addresses: Sequence[str]) -> list[Url]:
    return [url for url in map(read_url, addresses) if url is not None]


async def _run(crawler: Crawler, stop_at: float) -> RunSummary:
    if stop_at:
        asyncio.get_running_loop().call_later(stop_at, crawler.stop, "signal")
    return await crawler.run()


SILENT = [f"http://silent{n}.example/" for n in range(6)]
QUICK = [f"http://quick{n}.example/" for n in range(6)]


def test_silent_servers_hold_up_nobody() -> None:
    transport, summary = crawl(SILENT + QUICK)
    quick = [at for url, at in transport.asked if "quick" in url]
    assert len(quick) == 2 * len(QUICK)
    assert max(quick) < 4 * LONG_WAIT_S, "two workers give up six places, two at a time"
    assert summary.pages == 12


def test_without_waiting_visits_workers_wait_themselves() -> None:
    transport, summary = crawl(SILENT + QUICK, max_waiting=0)
    quick = [at for url, at in transport.asked if "quick" in url]
    assert min(quick) > SILENT_S
    assert summary.pages == 12


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_visits_wait_than_may(most: int) -> None:
    transport, _ = crawl(SILENT, max_waiting=most)
    begun = [at for url, at in transport.asked if url.endswith("robots.txt")]
    assert len([at for at in begun if at < SILENT_S]) == 2 + most


def test_a_host_known_to_be_slow_gives_its_place_up_at_once() -> None:
    transport, _ = crawl([*SILENT, "http://silent0.example/again"])
    asked = dict(transport.asked)
    begun = sorted(asked[f"{url}robots.txt"] for url in SILENT)
    assert begun[-1] == pytest.approx(2 * LONG_WAIT_S), "nothing was known of these hosts"
    pages = sorted(asked[url] for url in SILENT)
    assert pages[-1] - pages[0] < begun[-1] - begun[0] + LONG_WAIT_S


@pytest.mark.parametrize("most", [0, 200])
def test_a_probe_that_waits_for_its_hosts_delay_holds_up_nobody(most: int) -> None:
    transport, _ = crawl(QUICK, delay_s=DELAY_S, probes=True, max_waiting=most)
    robots = {url.split("/")[2]: at for url, at in transport.asked if url.endswith("robots.txt")}
    first = {url.split("/")[2]: at for url, at in reversed(transport.asked) if not url.endswith("robots.txt")}
    assert min(first[host] - at for host, at in robots.items()) >= DELAY_S
    assert DELAY_S < max(first.values()) < DELAY_S + 1.0


def test_a_delay_does_not_make_a_host_slow() -> None:
    transport, _ = crawl([*SILENT, "http://silent0.example/again"], delay_s=DELAY_S)
    asked = dict(transport.asked)
    waits = sorted(asked[url] for url in SILENT)
    assert waits[-1] - waits[0] < 2 * LONG_WAIT_S + 1.0, "their robots.txt was late, so their pages take no places"


def test_a_stop_waits_for_visits_that_wait_and_cuts_them_off_in_the_end() -> None:
    transport, summary = crawl(SILENT + QUICK, stop_at=3.0)
    assert summary.stopped == "signal"
    assert summary.pages < 12
    assert transport.asked[-1][1] < 3.0 + Settings().settle_s + 1.0


SERVICES = [f"{host}wms{n}" for host in SILENT for n in range(3)]


def test_a_run_that_waits_for_slow_services_alone_ends_and_leaves_them_queued() -> None:
    transport, summary = crawl(SERVICES, probes=True)
    assert (summary.stopped, summary.probes) == ("slow", 0)
    assert summary.seconds == pytest.approx(len(SILENT) / 2 * LONG_WAIT_S + SLOW_S, abs=1.5)
    assert len(transport.asked) < len(SERVICES)


def test_a_run_that_is_to_wait_probes_all_of_them() -> None:
    _, summary = crawl(SERVICES, probes=True, wait=True)
    assert (summary.stopped, summary.probes + summary.failures) == ("max-pages", len(SERVICES))


def test_a_slow_service_does_not_end_a_run_that_has_pages_to_read() -> None:
    pages = [f"{QUICK[0]}{n}" for n in range(40)]
    transport, summary = crawl(SERVICES, probes=True, pages=pages, delay_s=DELAY_S)
    assert (summary.stopped, summary.pages) == ("slow", len(pages))
    assert summary.seconds > SLOW_S + max(at for url, at in transport.asked if url in pages)


def test_quick_services_keep_a_run_going() -> None:
    transport, summary = crawl([*SERVICES, *(f"{QUICK[0]}wms{n}" for n in range(40))], probes=True, delay_s=DELAY_S)
    assert summary.stopped == "slow"
    assert len({url for url, _ in transport.asked if url.startswith(f"{QUICK[0]}wms")}) >= 40


def test_slow_services_go_behind_the_others_of_their_host() -> None:
    slow = [f"{QUICK[0]}silent{n}/wms" for n in range(4)]
    quick = [f"{QUICK[0]}wms{n}" for n in range(46)]
    mixed = [*quick[:3], slow[0], *quick[3:20], slow[1], *quick[20:30], slow[2], slow[3], *quick[30:]]
    transport, summary = crawl(mixed, probes=True, wait=True, siblings=0)
    asked = [(at, [path for path in (*slow, *quick) if url.startswith(f"{path}?")]) for url, at in transport.asked]
    last_of_quick = max(at for at, paths in asked if paths and paths[0] in quick)
    assert last_of_quick < 60.0
    tries = [at for at, paths in asked if paths == slow[:1]]
    assert tries[0] < last_of_quick < tries[1], "what was cut off is asked again in the end"
    assert summary.probes + summary.failures == len(mixed)
