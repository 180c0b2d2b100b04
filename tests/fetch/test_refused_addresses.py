"""What an operator shuts out: nothing of it is asked, as a page or as a service, however it is come by."""

from __future__ import annotations

import pytest

from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose
from tests.support.http_server import answer, pages, redirect, serve
from tests.support.politeness import MemoryPoliteness

from .conftest import AGENT, VirtualClock, settings, url


def fetcher(*deny: str) -> PoliteFetcher:
    chosen = settings(ignore_robots=False, deny=deny)
    return PoliteFetcher(chosen, MemoryPoliteness(), SystemClock(), user_agent=AGENT)


async def test_nothing_of_a_denied_host_is_asked_and_neither_is_its_robots_txt() -> None:
    async with serve(pages({"/a": answer(b"ok")})) as server:
        asking = fetcher("127.0.0.1")
        for purpose in (Purpose.PAGE, Purpose.PROBE, Purpose.MAP):
            async with asking.turn(HostState("127.0.0.1")) as turn:
                got = await turn.fetch(url(f"{server.base}/a"), purpose=purpose)
            assert isinstance(got, Failure) and got.code is FailureCode.DENY
        await asking.close()
        assert server.targets == []


async def test_a_redirect_into_what_is_denied_ends_there() -> None:
    async with serve(pages({"/a": redirect("/private/b"), "/private/b": answer(b"no"), "/c": answer(b"ok")})) as server:
        asking = fetcher("127.0.0.1*/private/*", "*/private/*")
        async with asking.turn(HostState("127.0.0.1")) as turn:
            got = await turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE)
            other = await turn.fetch(url(f"{server.base}/c"), purpose=Purpose.PAGE)
        await asking.close()
        assert isinstance(got, Failure) and got.code is FailureCode.DENY
        assert isinstance(other, Page)
        assert server.targets == ["/robots.txt", "/a", "/c"]


@pytest.mark.parametrize("at", ["robots.txt", "the page", "the second request"])
async def test_a_host_that_opts_out_while_a_request_waits_is_not_asked_any_more(at: str) -> None:
    has_opted_out = False

    class OptingOut(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            nonlocal has_opted_out
            has_opted_out = len(server.targets) == ["robots.txt", "the page", "the second request"].index(at)
            await super().sleep(seconds)

    robots, clock = MemoryPoliteness(), OptingOut()
    robots.has_opted_out = lambda host: has_opted_out
    async with serve(pages({"/a": answer(b"ok"), "/b": answer(b"ok"), "/robots.txt": answer(b"")})) as server:
        chosen = settings(ignore_robots=False, delay_s=5.0)
        asking = PoliteFetcher(chosen, robots, clock, user_agent=AGENT)
        async with asking.turn(HostState("127.0.0.1", next_at=clock.now() + 60)) as turn:
            got = await turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE)
            if at == "the second request":
                assert isinstance(got, Page)
                got = await turn.fetch(url(f"{server.base}/b"), purpose=Purpose.PAGE)
        await asking.close()
    assert isinstance(got, Failure) and got.code is FailureCode.FORGOTTEN
    assert server.targets == ["/robots.txt", "/a"][: ["robots.txt", "the page", "the second request"].index(at)]
    assert all(record.body is not None for record in robots.records.values()), "nothing untrue is kept"


async def test_an_allow_list_of_folders_does_not_forbid_their_robots_txt() -> None:
    async with serve(pages({"/maps/a": answer(b"ok")})) as server:
        chosen = settings(ignore_robots=False, allow=("127.0.0.1*/maps/*",))
        asking = PoliteFetcher(chosen, MemoryPoliteness(), SystemClock(), user_agent=AGENT)
        async with asking.turn(HostState("127.0.0.1")) as turn:
            assert isinstance(await turn.fetch(url(f"{server.base}/maps/a"), purpose=Purpose.PAGE), Page)
        await asking.close()
        assert server.targets == ["/robots.txt", "/maps/a"]
