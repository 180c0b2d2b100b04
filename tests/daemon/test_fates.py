"""What the catalogue says over weeks of services that die, hang, forbid, ask for patience, or move, on real servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from geocrawl.app import fetchers, wiring
from geocrawl.app.crawl import claim
from geocrawl.app.session import Session
from geocrawl.daemon.budget import without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.demo.maps import draw_map
from geocrawl.errors import UsageError
from geocrawl.model.health import DAY_S
from geocrawl.model.watches import What
from geocrawl.settings import Settings, SiteSettings
from geocrawl.store import Store
from geocrawl.store.database.connection import Connection
from geocrawl.store.upkeep.watches import Watches
from geocrawl.urls import read_url
from tests.daemon.test_not_modified import LaterClock
from tests.fates.web import capabilities
from tests.support.answers import CAPABILITIES, EXCEPTION
from tests.support.http_server import NOT_FOUND, answer, redirect, serve
from tests.support.loop_time import LoopTime
from tests.support.soak import Silent

SETTINGS = Settings(
    strategy="gws",
    allow_private=True,
    delay_s=0.0,
    patience_s=0.0,
    workers=1,
    siblings=0,
    max_attempts=1,
    map_requests=0,
    backoff_first_s=0.05,
    backoff_max_s=0.05,
    revisit_first_s=3000 * DAY_S,
    revisit_most_s=3000 * DAY_S,
)
PAGE = "<html><title>Maps</title><body><a href='/ows?service=WMS&request=GetCapabilities'>WMS of all roads</a>"
FORBIDDEN = b"User-agent: *\nDisallow: /\n"


@dataclass
class Site:
    """A page that names a WMS, and what has become of the server."""

    fate: str = "well"
    moved_to: str = ""
    capabilities: str = CAPABILITIES

    def respond(self, target: str) -> bytes | Awaitable[None]:
        """Return the whole answer to a request."""
        path = target.partition("?")[0]
        if self.fate == "all-503":
            return answer(b"out of order", "503 Service Unavailable")
        if self.fate == "hangs":
            return LoopTime().hang(SETTINGS.read_timeout_s)
        if path == "/robots.txt":
            return answer(FORBIDDEN, content_type="text/plain") if self.fate == "forbids" else NOT_FOUND
        if path == "/":
            return answer(PAGE.encode())
        if self.fate == "patience":
            return answer(b"slower", "429 Too Many Requests", retry_after="60")
        if self.fate == "to-a-page":
            return redirect(f"{self.moved_to}/", "301 Moved Permanently")
        if self.fate == "moves":
            return redirect(f"{self.moved_to}{target}", "301 Moved Permanently")
        return answer(self.capabilities.encode(), content_type="text/xml") if path == "/ows" else NOT_FOUND


class Daemon:
    """The daemon's work, day by day."""

    def __init__(self, session: Session, work: Jobs, clock: LaterClock, connection: Connection) -> None:
        self._session, self._work, self._clock = session, work, clock
        self.connection = connection
        self.watches = Watches(session.store.database)
        self.told: list[tuple[What, int, str]] = []

    async def run(self, days: float = 0.0) -> None:
        """After so many days: what is due, then the loop until nothing is ready, then what watchers are told."""
        self._clock.ahead_s += days * DAY_S
        self._work.reprobe()
        await self._work.retention()
        fetcher = fetchers.make_session_fetcher(self._session)
        try:
            await wiring.make_crawler(self._session, Silent(), fetcher, max_pages=1000).run()
        finally:
            await fetcher.close()
        self.watches.look(lambda query: (), self._clock.now())
        for delivery in self.watches.due(self._clock.now()):
            self.told += [(each.what, each.service_id, each.moved_to) for each in delivery.notices]
            self.watches.delivered(delivery, self._clock.now())

    async def watched_for(self, seconds: float, *, until: int | None = None, step_s: float = 30.0) -> float:
        """Work on for so long, or until watchers have been told so much; return the seconds."""
        passed = 0.0
        while passed < seconds and (until is None or len(self.told) < until):
            await self.run(step_s / DAY_S)
            passed += step_s
        return passed

    def watch(self, number: int, to: str = "mail:a@b.example", *, every_s: float | None = None, **of: float) -> int:
        """Add a watch; `of`: settings that differ."""
        settings, now = replace(SETTINGS, **of), self._clock.now()  # type: ignore[arg-type]  # of floats
        return self.watches.add(number, to, "", lambda query: (), now, every_s=every_s, settings=settings).id

    def set_paces(self, site: SiteSettings | None = None) -> None:
        """Give what is watched its intervals, by watches and by the settings of the site."""
        sites = {"127.0.0.1": site} if site else {}
        self.watches.set_paces(replace(SETTINGS, sites=sites), self._clock.now())

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        return list(self.connection.execute(statement).fetchall())

    async def healths(self, rounds: int, days: float = 1.5) -> list[object]:
        """Return the first endpoint's states in so many rounds, each once."""
        seen = []
        for _ in range(rounds):
            await self.run(days)
            seen += self.rows("SELECT health FROM endpoint WHERE id = 1")
        return [state for (state,), _ in groupby(seen)]


@asynccontextmanager
async def daemon(
    tmp_path: Path, site: Site, *more: Site, settings: Settings = SETTINGS
) -> AsyncIterator[tuple[Daemon, list[str]]]:
    """A daemon that has found the first site's service; and where the other sites are, by another host's name."""
    clock = LaterClock()
    async with (
        serve(lambda target, writer: site.respond(target)) as server,
        asynccontextmanager(_served)(more) as others,
    ):
        with Store.open(tmp_path / "c.db", clock=clock) as store:
            session = wiring.make_session(without_limits(settings), store, clock)
            claim(session)
            seed = read_url(f"{server.base}/")
            assert seed is not None
            session.add_seeds([seed], again=False)
            working = Daemon(session, Jobs(settings, store, session.frontier, clock), clock, store.connection)
            await working.run()
            assert working.rows("SELECT status, health FROM endpoint") == [("valid", "alive")]
            yield working, others


async def _served(sites: tuple[Site, ...]) -> AsyncIterator[list[str]]:
    if not sites:
        yield []
        return
    (site,) = sites
    async with serve(lambda target, writer: site.respond(target)) as server:
        yield [f"http://localhost:{server.port}"]


async def test_a_server_that_answers_503_to_everything_is_unconfirmed_and_then_down(tmp_path: Path) -> None:
    site = Site()
    async with daemon(tmp_path, site) as (working, _):
        working.watch(1)
        site.fate = "all-503"
        assert await working.healths(6) == ["alive"], "it may not be asked: that says nothing yet"
        kept = "SELECT status FROM probe UNION SELECT 'valid' FROM probe_sum WHERE valid > 0 ORDER BY 1"
        assert working.rows(kept) == [("unasked",), ("valid",)]
        assert await working.healths(12) == ["alive", "unconfirmed"]
        assert working.rows("SELECT alive, health FROM v_services") == [(0, "unconfirmed")]
        assert await working.healths(14) == ["unconfirmed", "degraded", "down"], (
            "robots.txt counts as lost after 30 days"
        )
        assert working.told == [(What.DIED, 1, "")]
        site.fate = "well"
        assert (await working.healths(8))[-1] == "alive"
        assert working.told[1:] == [(What.RETURNED, 1, "")]


async def test_a_server_that_accepts_connections_and_never_answers_is_down(tmp_path: Path) -> None:
    site = Site()
    async with daemon(tmp_path, site) as (working, _):
        site.fate = "hangs"
        assert await working.healths(6) == ["degraded", "down"]
        assert working.rows("SELECT status, reason FROM endpoint")[0][0] == "invalid"


async def test_a_service_that_robots_txt_forbids_is_unconfirmed_and_never_dead(tmp_path: Path) -> None:
    site = Site()
    async with daemon(tmp_path, site) as (working, _):
        working.watch(1)
        site.fate = "forbids"
        assert await working.healths(20, days=4) == ["alive", "unconfirmed"]
        assert working.rows("SELECT status, reason FROM endpoint") == [("valid", "robots")]
        assert working.told == []
        site.fate = "well"
        assert (await working.healths(4, days=4))[-1] == "alive"
        assert working.rows("SELECT status, reason FROM endpoint") == [("valid", "ok")]


async def test_a_service_that_asks_for_patience_never_dies_of_it(tmp_path: Path) -> None:
    site = Site()
    async with daemon(tmp_path, site) as (working, _):
        working.watch(1)
        site.fate = "patience"
        assert await working.healths(12, days=2) == ["alive"]
        assert working.rows("SELECT status, reason, in_a_row FROM endpoint") == [("valid", "rate-limited", 1)]
        assert await working.healths(8, days=2) == ["alive", "unconfirmed"]
        assert working.told == []


async def test_a_service_that_moved_for_good_keeps_its_number_and_history(tmp_path: Path) -> None:
    site, new = Site(), Site()
    async with daemon(tmp_path, site, new) as (working, (address,)):
        working.watch(1)
        site.fate, site.moved_to = "moves", address
        states = await working.healths(20, days=3)
        assert "degraded" not in states and "down" not in states
        assert working.rows("SELECT id, alive FROM v_services") == [(1, 1)]
        assert [url for (url,) in working.rows("SELECT url FROM v_services")] == [f"{address}/ows"]
        assert working.rows("SELECT signal FROM same_service") == [("redirect",)]
        assert working.told == [(What.MOVED, 1, f"{address}/ows")]
        site.fate = "to-a-page"
        await working.healths(8)
        new.fate = "hangs"  # alone: were both to begin at once, the network would be suspected
        await working.healths(14)
        assert working.told[1:] == [(What.DIED, 1, "")]


async def test_a_redirect_to_an_ordinary_page_is_a_failure_as_before(tmp_path: Path) -> None:
    site, new = Site(), Site(fate="patience")
    async with daemon(tmp_path, site, new) as (working, (address,)):
        site.fate, site.moved_to = "to-a-page", address
        assert await working.healths(6) == ["degraded", "down"]


async def test_a_redirect_to_another_service_does_not_join_the_two(tmp_path: Path) -> None:
    other = CAPABILITIES.replace("<Name>", "<Name>other_")
    site, new = Site(), Site(capabilities=other)
    async with daemon(tmp_path, site, new) as (working, (address,)):
        site.fate, site.moved_to = "moves", address
        assert (await working.healths(8))[-1] == "down"
        assert working.rows("SELECT count(*) FROM service") == [(2,)]


async def test_a_service_that_nobody_asked_for_a_month_is_unconfirmed_until_it_is_asked(tmp_path: Path) -> None:
    changes = "SELECT before, after, reason FROM health_event ORDER BY id"
    async with daemon(tmp_path, Site()) as (working, _):
        working.watch(1)
        await working.run(29)
        assert working.rows(changes) == [("new", "alive", "ok")]
        await working.run(31)
        aged = [("alive", "unconfirmed", "unseen"), ("unconfirmed", "alive", "ok")]
        assert working.rows(changes)[1:] == aged
        assert working.told == []


EVERY_S = 300.0


async def test_what_is_watched_every_five_minutes_is_told_within_three_intervals(tmp_path: Path) -> None:
    site = Site()
    settings = replace(SETTINGS, backoff_first_s=60.0, backoff_max_s=DAY_S, max_attempts=3, backoff_after=1)
    async with daemon(tmp_path, site, settings=settings) as (working, _):
        working.watch(1, every_s=EVERY_S)
        await working.watched_for(4 * EVERY_S)
        assert 3 <= len(working.rows("SELECT at FROM probe")) - 1 <= 5, "one probe an interval"
        site.fate = "hangs"
        assert await working.watched_for(3 * EVERY_S, until=1) <= 3 * EVERY_S
        assert working.told == [(What.DIED, 1, "")], "after three failures, each a minute after the one before"
        await working.watched_for(12 * EVERY_S)
        assert working.told == [(What.DIED, 1, "")], "once"
        site.fate = "well"
        assert await working.watched_for(3 * EVERY_S, until=2) <= 3 * EVERY_S
        assert working.told[1:] == [(What.RETURNED, 1, "")], "its host does not rest for longer than an interval"


async def test_between_two_full_probes_a_watched_service_is_asked_for_its_description_alone(tmp_path: Path) -> None:
    site = Site()
    async with daemon(tmp_path, site) as (working, _):
        working.watch(1, "", every_s=3600.0)
        await working.watched_for(2 * 3600.0, step_s=3600.0)
        (proved_at,) = working.rows("SELECT whole_at FROM endpoint")[0]
        await working.watched_for(20 * 3600.0, step_s=3600.0)
        assert working.rows("SELECT whole_at FROM endpoint") == [(proved_at,)]
        await working.watched_for(6 * 3600.0, step_s=3600.0)
        assert working.rows("SELECT whole_at > ? FROM endpoint".replace("?", str(proved_at))) == [(1,)], "once a day"
        assert working.told == [], "nobody is told"


@dataclass
class LayeredSite(Site):
    """A site whose service draws four layers but for those that are out of order."""

    capabilities: str = field(default_factory=lambda: capabilities(1).decode())
    asked: list[str] = field(default_factory=list)
    """Layers whose pictures were requested."""
    broken: str = ""

    def respond(self, target: str) -> bytes | Awaitable[None]:
        query = dict(parse_qsl(target.partition("?")[2]))
        if query.get("REQUEST") != "GetMap":
            return super().respond(target)
        self.asked.append(query["LAYERS"])
        if query["LAYERS"] == self.broken:
            return answer(EXCEPTION.format("its file is gone").encode(), content_type="text/xml")
        picture = draw_map((-10.0, 40.0, 10.0, 60.0), query["WIDTH"], query["HEIGHT"], "roads")
        return answer(picture, content_type="image/png")


async def test_between_two_full_probes_each_layer_is_asked_for_in_turn(tmp_path: Path) -> None:
    site = LayeredSite()
    async with daemon(tmp_path, site, settings=replace(SETTINGS, map_requests=8)) as (working, _):
        working.watch(1, every_s=EVERY_S)
        site.asked.clear()
        await working.watched_for(12 * EVERY_S, step_s=EVERY_S)
        assert set(site.asked) == {f"{name}_s1" for name in ("roads", "rivers", "parks", "wells")}
        assert len(site.asked) <= 3 * 13, "a picture, which is compared with one or two others"
        outcomes = "SELECT layer, outcome FROM proof ORDER BY layer"
        assert {outcome for _, outcome in working.rows(outcomes)} == {"ok"} and len(working.rows(outcomes)) == 4
        site.broken = "parks_s1"
        await working.watched_for(6 * EVERY_S, step_s=EVERY_S)
        told: dict[str, str] = dict(working.rows(outcomes))  # type: ignore[arg-type]
        assert told.pop("parks_s1") == "exception" and set(told.values()) == {"ok"} and len(told) == 3
        assert working.rows("SELECT level, health FROM endpoint") == [("delivers", "alive")] and working.told == []


async def test_an_interval_that_the_host_cannot_bear_is_refused_with_the_shortest_that_it_can(tmp_path: Path) -> None:
    async with daemon(tmp_path, Site()) as (working, _):
        with pytest.raises(UsageError, match=r"--every 1m: 127\.0\.0\.1 cannot bear that .*; the shortest is 1m30s"):
            working.watch(1, every_s=60.0, delay_s=90.0)
        pace = "SELECT every_s FROM endpoint"
        shorter, longer = working.watch(1, "", every_s=90.0, delay_s=90.0), working.watch(1, every_s=600.0)
        assert working.rows(pace) == [(90.0,)], "of two watches the shorter holds"
        working.watches.remove(shorter)
        working.set_paces()
        assert working.rows(pace) == [(600.0,)]
        working.set_paces(SiteSettings(every_s=120.0))
        assert working.rows(pace) == [(120.0,)], "the site's own"
        working.watches.remove(longer)
        working.set_paces()
        assert working.rows(pace) == [(None,)]
