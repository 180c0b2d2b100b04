"""Parts of the fetching room for its tests: fetchers that may ask loopback, with short limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import PoliteFetcher, PoliteTurn
from geocrawl.fetch.proxy import EnvironmentProxies
from geocrawl.model import Failure, HostState, Page, Purpose, Url
from geocrawl.ports import Clock
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.support.politeness import MemoryPoliteness

AGENT = "geocrawl/0.0 (+https://example.org/bot)"


class VirtualClock:
    """Time that passes only by sleeping, and by `tick_s` between two looks at it."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.time = start
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None
    return found


def settings(**changes: Any) -> Settings:
    """Loopback allowed, no delay, robots.txt passed over unless a test is about it."""
    return Settings(**{"allow_private": True, "delay_s": 0.0, "ignore_robots": True, **changes})


class Kit:
    """A fetcher with its parts."""

    def __init__(
        self, chosen: Settings, clock: Clock | None = None, environment: EnvironmentProxies | None = None
    ) -> None:
        self.clock = clock or SystemClock()
        self.politeness = MemoryPoliteness(self.clock, chosen)
        self.fetcher = PoliteFetcher(chosen, self.politeness, self.clock, user_agent=AGENT, environment=environment)

    async def get(self, text: str, purpose: Purpose = Purpose.PAGE) -> Page | Failure:
        """One address in a turn of its own."""
        asked = url(text)
        async with self.fetcher.turn(HostState(asked.host)) as turn:
            return await turn.fetch(asked, purpose=purpose)

    @asynccontextmanager
    async def turn(self, host: str = "127.0.0.1", **state: Any) -> AsyncIterator[PoliteTurn]:
        async with self.fetcher.turn(HostState(host, **state)) as turn:
            yield turn


@pytest.fixture
async def kit() -> AsyncIterator[Callable[..., Kit]]:
    """Makes kits, and closes their connections in the end."""
    made: list[Kit] = []

    def make(clock: Clock | None = None, environment: EnvironmentProxies | None = None, **changes: Any) -> Kit:
        made.append(Kit(settings(**changes), clock, environment))
        return made[-1]

    yield make
    for one in made:
        closing: Awaitable[None] = one.fetcher.close()
        await closing
