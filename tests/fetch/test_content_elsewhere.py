"""Content that a document names on another host: asked with that host's lease, pace and rules, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose
from geocrawl.ports import HostBusy, HostLease
from tests.support.http_server import Loopback, answer, pages, redirect, serve
from tests.support.politeness import MemoryPoliteness

from .conftest import AGENT, VirtualClock, settings, url

MAP = "http://maps.example/draw?request=GetMap"
FORBIDS_ALL = answer(b"User-agent: *\nDisallow: /", content_type="text/plain")


class World:
    """A fetcher whose proxy serves all hosts."""

    def __init__(self, server: Loopback, deny: tuple[str, ...] = ()) -> None:
        self.server, self.clock = server, VirtualClock()
        chosen = settings(ignore_robots=False, proxy=server.base, delay_s=2.0, deny=deny)
        self.hosts = MemoryPoliteness(self.clock, chosen)
        self.fetcher = PoliteFetcher(chosen, self.hosts, self.clock, user_agent=AGENT)

    async def get(self, *addresses: str, purpose: Purpose = Purpose.MAP) -> tuple[list[Page | Failure], HostState]:
        """Fetch in one turn of the host a.example; return the answers and that host's state."""
        async with self.fetcher.turn(HostState("a.example")) as turn:
            return [await turn.fetch(url(each), purpose=purpose) for each in addresses], turn.host

    async def lease(self) -> HostLease:
        lease = await self.hosts.lease("maps.example", self.clock.now(), wait_s=1e9)
        assert not isinstance(lease, HostBusy)
        return lease

    async def state(self) -> HostState:
        lease = await self.lease()
        await lease.release(lease.state, self.clock.now())
        return lease.state


@asynccontextmanager
async def world(web: Mapping[str, bytes], deny: tuple[str, ...] = ()) -> AsyncIterator[World]:
    async with serve(pages({MAP: answer(b"a map"), **web})) as server:
        made = World(server, deny)
        yield made
        await made.fetcher.close()


async def test_content_is_asked_of_the_other_host_at_its_own_pace() -> None:
    async with world({}) as made:
        (first, second), host = await made.get(MAP, MAP)
        state = await made.state()
    assert isinstance(first, Page) and isinstance(second, Page)
    assert (first.body, second.body) == (b"a map", b"a map")
    assert made.server.targets == ["http://maps.example/robots.txt", MAP, MAP]
    assert (state.asked, host.asked) == (3, 0), "its requests are its own"
    assert made.clock.slept == [2.0, 2.0]


async def test_a_redirect_of_content_to_another_host_is_followed_once() -> None:
    web = {"http://a.example/wms": redirect(MAP), "http://maps.example/on": redirect("http://third.example/")}
    async with world(web) as made:
        (got,), _ = await made.get("http://a.example/wms")
        (other,), _ = await made.get("http://maps.example/on")
    assert isinstance(got, Page) and isinstance(other, Page)
    assert (got.body, got.url.address) == (b"a map", "http://a.example/wms")
    assert other.location is not None, "a third host is not borrowed"
    assert not any("third" in target for target in made.server.targets)


async def test_its_robots_txt_counts() -> None:
    async with world({"http://maps.example/robots.txt": FORBIDS_ALL}) as made:
        (got,), _ = await made.get(MAP)
    assert isinstance(got, Failure) and got.code is FailureCode.ROBOTS
    assert MAP not in made.server.targets


async def test_a_host_that_is_leased_or_rests_is_not_asked() -> None:
    async with world({}) as made:
        lease = await made.lease()
        (leased, again), _ = await made.get(MAP, MAP)
        await lease.release(replace(lease.state, next_at=made.clock.now() + 600), made.clock.now())
        (resting,), _ = await made.get(MAP)
    for got in (leased, again, resting):
        assert isinstance(got, Failure) and got.code is FailureCode.RESTING
    assert made.server.targets == []
    assert made.clock.slept == [1.0] * 4, "five tries for the first one"


async def test_a_host_that_another_worker_gives_back_meanwhile_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world({}) as made:
        lease, slept = await made.lease(), list[float]()

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            if len(slept) == 4:
                await lease.release(lease.state, made.clock.now())

        monkeypatch.setattr(made.clock, "sleep", sleep)
        (got,), _ = await made.get(MAP)
    assert isinstance(got, Page) and slept[:4] == [1.0] * 4


async def test_a_host_that_the_operator_excludes_is_not_asked() -> None:
    async with world({}, ("maps.example",)) as made:
        (got,), _ = await made.get(MAP)
    assert isinstance(got, Failure)
    assert made.server.targets == []


@pytest.mark.parametrize("purpose", [Purpose.PAGE, Purpose.PROBE])
async def test_nothing_but_content_is_asked_of_another_host(purpose: Purpose) -> None:
    async with world({"http://a.example/wms": redirect(MAP)}) as made:
        (got,), _ = await made.get("http://a.example/wms", purpose=purpose)
        assert isinstance(got, Page) and got.location is not None
        with pytest.raises(ValueError, match=r"asked in the turn of a\.example"):
            await made.get(MAP, purpose=purpose)
    assert MAP not in made.server.targets
