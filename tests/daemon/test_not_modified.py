"""The daemon's work over weeks on a server that answers 304: an honest one, and one whose 304 lies."""

from __future__ import annotations

import hashlib
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from geocrawl.app import fetchers, wiring
from geocrawl.app.crawl import claim
from geocrawl.app.session import Session
from geocrawl.daemon.budget import without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.fetch.clock import SystemClock
from geocrawl.model.health import DAY_S
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database.connection import Connection
from geocrawl.store.upkeep.watches import Watches
from geocrawl.urls import read_url
from tests.support.answers import CAPABILITIES, EXCEPTION
from tests.support.http_server import Loopback, answer, serve
from tests.support.soak import Silent

SETTINGS = Settings(
    strategy="gws", allow_private=True, delay_s=0.0, patience_s=0.0, workers=1, siblings=0, max_attempts=1
)
PAGE = "<html><title>Maps</title><body><a href='/ows?service=WMS&request=GetCapabilities'>WMS of all roads</a>{}</body>"


class LaterClock:
    """The machine's clock, put forward by as much as a test wants."""

    def __init__(self) -> None:
        self.ahead_s = 0.0
        self._clock = SystemClock()

    def now(self) -> float:
        return time.time() + self.ahead_s

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


@dataclass
class Site:
    """A page that names a WMS, both with an entity tag. `lies`: it says 304 to whoever asks by one, whatever it has."""

    lies: bool = False
    is_old: bool = False
    """It answers a request for capabilities of version 1.3.0 by an exception."""
    capabilities: str = CAPABILITIES
    more: str = ""
    """Of the page."""
    loopback: Loopback | None = None
    answers: list[tuple[str, int]] = field(default_factory=list)
    """(path, status) of what was answered, but for robots.txt; maps as /map."""

    def respond(self, target: str) -> bytes:
        """The whole answer to a request."""
        assert self.loopback is not None
        if "GetMap" in target:
            self.answers.append(("/map", 404))
            return answer(b"none", "404 Not Found")
        path = target.partition("?")[0]
        if path == "/ows" and self.is_old and "version=1.3.0" in target.lower():
            self.answers.append(("/exception", 200))
            return answer(EXCEPTION.format("no 1.3.0").encode(), content_type="text/xml", etag='"e"')
        body = {"/": PAGE.format(self.more), "/ows": self.capabilities}.get(path)
        if body is None:
            return answer(b"no", "404 Not Found")
        tag = f'W/"{hashlib.sha256(body.encode()).hexdigest()[:16]}"'
        asked_by = self.loopback.fields[-1].get("if-none-match")
        unchanged = asked_by is not None and (self.lies or asked_by == tag)
        self.answers.append((path, 304 if unchanged else 200))
        if unchanged:
            return f"HTTP/1.1 304 Not Modified\r\nETag: {asked_by}\r\n\r\n".encode()
        return answer(body.encode(), content_type="text/xml" if path == "/ows" else "text/html", etag=tag)

    def take(self) -> list[tuple[str, int]]:
        """What was answered since the last time."""
        answers, self.answers = self.answers, []
        return answers


class Watch:
    """The daemon's work on one site, day by day."""

    def __init__(self, session: Session, work: Jobs, clock: LaterClock, connection: Connection) -> None:
        self._session, self._work, self._clock = session, work, clock
        self.connection = connection

    async def run(self, days: float = 0.0) -> None:
        """After so many days: what is due, then the loop until nothing is ready."""
        self._clock.ahead_s += days * DAY_S
        for tick in ("reprobe", "revisit", "refresh", "retention"):
            done = getattr(self._work, tick)()
            if inspect.isawaitable(done):
                await done
        fetcher = fetchers.make_session_fetcher(self._session)
        try:
            crawler = wiring.make_crawler(self._session, Silent(), fetcher, max_pages=1000)
            await crawler.run()
        finally:
            await fetcher.close()

    def every_five_minutes(self) -> None:
        """Watch the first service in minutes."""
        add = Watches(self._session.store.database).add
        add(1, "", "", lambda query: (), self._clock.now(), every_s=300.0, settings=SETTINGS)

    def one(self, statement: str) -> tuple[object, ...]:
        row: tuple[object, ...] = self.connection.execute(statement).fetchone()
        return row


@asynccontextmanager
async def watch(tmp_path: Path, site: Site) -> AsyncIterator[Watch]:
    """The site's server, and a crawl of it by the daemon's parts."""
    clock = LaterClock()
    async with serve(lambda target, writer: site.respond(target)) as server:
        site.loopback = server
        with Store.open(tmp_path / "c.db", clock=clock) as store:
            session = wiring.make_session(without_limits(SETTINGS), store, clock)
            claim(session)
            seed = read_url(f"{server.base}/")
            assert seed is not None
            session.add_seeds([seed], again=False)
            work = Jobs(SETTINGS, store, session.frontier, clock)
            yield Watch(session, work, clock, store.database.connection)


async def test_an_honest_server_is_asked_by_validators_and_says_when_something_is_new(tmp_path: Path) -> None:
    site = Site()
    async with watch(tmp_path, site) as watching:
        await watching.run()
        first = site.take()
        assert [each for each in first if each[0] != "/map"] == [("/", 200), ("/ows", 200)]
        assert ("/map", 404) in first, "it was asked for content"
        layers = watching.one("SELECT count(*) FROM layer")
        await watching.run(8)
        assert sorted(site.take()) == [("/", 304), ("/ows", 304)], "and for no content"
        assert watching.one("SELECT status, health, in_a_row, probes FROM endpoint") == ("valid", "alive", 2, 2)
        assert watching.one("SELECT count(*) FROM layer") == layers
        assert watching.one("SELECT title, state, reason FROM url WHERE purpose = 'page'") == (
            "Maps",
            "visited",
            "not-modified",
        )
        site.capabilities = CAPABILITIES.replace("Roads of Härjedalen", "Roads of Jämtland")
        site.more = "<a href='/more'>another page</a>"
        await watching.run(12)
        assert sorted(each for each in site.take() if each[0] != "/map") == [("/", 200), ("/ows", 200)]
        assert watching.one("SELECT title FROM service") == ("Roads of Jämtland",)
        assert watching.one("SELECT what, after FROM change") == ("title", "Roads of Jämtland")
        assert watching.one("SELECT changes FROM url WHERE address LIKE '%/' AND purpose = 'page'") == (1,)


async def test_of_a_service_watched_in_minutes_one_description_in_twelve_is_read_whole(tmp_path: Path) -> None:
    site = Site()
    async with watch(tmp_path, site) as watching:
        await watching.run()
        site.take()
        watching.every_five_minutes()
        for _ in range(36):
            await watching.run(300 / DAY_S)
        found = Counter(site.take())
        assert 2 <= found["/ows", 200] <= 4 and found["/ows", 304] >= 30
        assert found["/map", 404] >= found["/ows", 200], "with content of a layer"


async def test_a_server_whose_304_lies_is_found_out_within_thirty_days(tmp_path: Path) -> None:
    site = Site(lies=True)
    async with watch(tmp_path, site) as watching:
        await watching.run()
        site.take()
        site.capabilities = CAPABILITIES.replace("Roads of Härjedalen", "Roads of Jämtland")
        for _ in range(3):
            await watching.run(8)
            assert ("/ows", 304) in site.take()
            assert watching.one("SELECT title FROM service") == ("Roads of Härjedalen",)
        await watching.run(8)
        found = site.take()
        assert ("/ows", 200) in found and ("/map", 404) in found, "content is asked for again, too"
        assert watching.one("SELECT title FROM service") == ("Roads of Jämtland",)


async def test_a_service_that_dies_behind_validators_is_seen_to(tmp_path: Path) -> None:
    site = Site()
    async with watch(tmp_path, site) as watching:
        await watching.run()
        await watching.run(2)
        site.capabilities = "<html><body>Switched off</body></html>"
        await watching.run(3)
        assert watching.one("SELECT status, reason, health FROM endpoint") == ("invalid", "html", "degraded")
        site.capabilities = CAPABILITIES
        site.take()
        await watching.run(2)
        answers = site.take()
        assert ("/ows", 200) in answers, "after a failure it is read whole"
        await watching.run(2)
        assert ("/ows", 304) in site.take()
        assert watching.one("SELECT health FROM endpoint") == ("alive",)


async def test_a_service_that_takes_several_requests_is_read_whole_each_time(tmp_path: Path) -> None:
    site = Site(is_old=True)
    async with watch(tmp_path, site) as watching:
        for _ in range(3):
            site.take()
            await watching.run(8)
            asked = [each for each in site.take() if each[0] in ("/exception", "/ows")]
            assert asked == [("/exception", 200), ("/ows", 200)]
        assert watching.one("SELECT status, probes FROM endpoint") == ("valid", 3)


async def test_a_page_of_validators_alone_costs_no_lesson_and_no_place_in_the_order(tmp_path: Path) -> None:
    site = Site(more="<a href='/a'>a</a><a href='/b'>b</a>")
    async with watch(tmp_path, site) as watching:
        await watching.run()
        before = watching.connection.execute("SELECT id, tier, score, depth, found_on, state FROM url").fetchall()
        site.take()
        await watching.run(8)
        assert ("/", 304) in site.take()
        assert (
            watching.connection.execute("SELECT id, tier, score, depth, found_on, state FROM url").fetchall() == before
        )
