"""What the store's tests are made of: addresses, links, visits and a clock that stands until it is moved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from geocrawl.model import (
    Candidate,
    ContentReport,
    Endpoint,
    Evidence,
    Kind,
    Lease,
    Link,
    Purpose,
    Rank,
    RankedLink,
    Service,
    SettlementResult,
    State,
    Status,
    StoredPage,
    Url,
    Verdict,
    Visit,
)
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import open_readonly
from geocrawl.store.database.sqlite.connection import MEMORY
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.store import Store
from geocrawl.urls import endpoint_key, read_url
from geocrawl.urls.endpoints import endpoint_address

SEED_RANK = Rank(9)


class ManualClock:
    """Time that stands still until it is moved."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        await asyncio.sleep(0)


def url(text: str) -> Url:
    read = read_url(text if "://" in text else f"http://{text}")
    assert read is not None
    return read


def link(text: str, tier: int = 5, score: float = 0.0, *, refused: str = "", same_depth: bool = False) -> RankedLink:
    return RankedLink(Link(url(text), f"to {text}"), Rank(tier, score), refused, same_depth)


def candidate(text: str, *, page: str = "http://a.example/", weak: bool = False) -> Candidate:
    given = url(text)
    endpoint = Endpoint(Kind.WMS, endpoint_key(given), endpoint_address(given))
    return Candidate(endpoint, Evidence("path" if weak else "query", page, given.address, "a map"), weak)


def verdict(reason: str = "ok", service: Service | None = None, **more: object) -> Verdict:
    status = Status.VALID if reason == "ok" else Status.INVALID
    return replace(Verdict(status, reason, service, http_status=200), **more)  # type: ignore[arg-type]


class World:
    """A frontier and a catalogue on a database of their own: `path` is a file or a URL."""

    def __init__(
        self,
        path: Path | str,
        settings: Settings | None = None,
        *,
        by_depth: bool = False,
        by_yield: bool = False,
        learns: bool = False,
        stride: int = 1,
        owner: str = "test:1",
    ) -> None:
        self.clock = ManualClock()
        self.settings = settings or Settings(delay_s=0, max_fruitless_per_pattern=0)
        self.store = Store.open(path, clock=self.clock)
        self.database = self.store.database
        self.database.life.owner, self.database.life.has_thread = owner, False
        self.catalog = self.store.catalog()
        self.frontier = self.store.frontier(
            self.settings,
            self.catalog,
            FrontierOptions(by_depth=by_depth, by_yield=by_yield, learns=learns, stride=stride),
        )

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read as people do: through a connection that can write nothing, where the engine has one."""
        if self.database.path == MEMORY:
            yield self.database.connection
        else:
            with open_readonly(self.database.path) as connection:
                yield connection

    def seed(self, *texts: str, again: bool = False) -> int:
        return self.frontier.add_seeds([url(text) for text in texts], SEED_RANK, again=again)

    def lease(self, *, pages: bool = True) -> Lease:
        lease = self.frontier.lease(pages=pages)
        assert lease is not None
        return lease

    def settle(
        self,
        lease: Lease,
        *links: RankedLink,
        state: State = State.VISITED,
        reason: str = "ok",
        candidates: Iterable[tuple[Candidate, RankedLink | None]] = (),
        verdict: Verdict | None = None,
        retry_after_s: float | None = None,
        next_at: float = 0.0,
        features: bytes = b"",
        stored: StoredPage | None = None,
        score: float = 0.0,
        content_report: ContentReport | None = None,
    ) -> SettlementResult:
        return self.frontier.settle(
            Visit(
                lease=lease,
                state=state,
                reason=reason,
                host=replace(lease.host, next_at=next_at),
                at=self.clock.now(),
                http_status=200 if state is State.VISITED else None,
                links=links,
                candidates=tuple(candidates),
                verdict=verdict,
                retry_after_s=retry_after_s,
                features=features,
                stored=stored,
                score=score,
                content_report=content_report,
            )
        )

    def visit(self, *links: RankedLink, candidates: Iterable[tuple[Candidate, RankedLink | None]] = ()) -> str:
        """Lease the next page, settle it with these links; returns its address."""
        lease = self.lease()
        assert lease.entry.purpose is Purpose.PAGE
        self.settle(lease, *links, candidates=candidates)
        return lease.entry.url.address

    def record(self, candidate: Candidate, verdict: Verdict, at: float) -> int:
        """Note a candidate and write its verdict, as settlements do; returns the endpoint's id."""
        with self.database.transaction:
            known = self.catalog.known([candidate])
            endpoint_id = known.add(candidate)
            self.catalog.note([candidate], known, at)
            self.catalog.write(endpoint_id, candidate, verdict, at)
        return endpoint_id

    def row(self, text: str) -> tuple[str, str | None, int, int]:
        """(state, reason, depth, tier) of a page."""
        row: tuple[str, str | None, int, int] = self.database.connection.execute(
            "SELECT state, reason, depth, tier FROM url WHERE address = ? AND purpose = 'page'", (url(text).address,)
        ).fetchone()
        return row
