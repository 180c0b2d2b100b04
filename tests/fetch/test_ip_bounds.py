"""An IP address with many host names receives few requests at once, and turns that would wait there are put off."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import pairwise

import pytest

from geocrawl.errors import GivenBack
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.fetch.ip_bounds import IpBounds, PutOff
from geocrawl.model import Failure, FailureCode, HostState, IpPlace, IpRequest, Page, Purpose
from geocrawl.ports import Clock
from tests.support.http_server import answer, serve
from tests.support.politeness import MemoryPoliteness

from .conftest import AGENT, Kit, VirtualClock, settings, url

MakeKit = Callable[..., Kit]


@pytest.fixture
def one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name leads to 127.0.0.1, those of `elsewhere` to 127.0.0.2."""

    def look_up(host: str, port: int, *rest: object, **more: object) -> list[tuple[object, ...]]:
        address = "127.0.0.2" if host.startswith("elsewhere") else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


class Counting:
    """Answers when two requests or more are under way, or after a while; counts the most at once."""

    def __init__(self) -> None:
        self.under_way = self.most = 0

    def __call__(self, target: str, writer: asyncio.StreamWriter) -> Awaitable[None]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        return self._respond(writer)

    async def _respond(self, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        self.under_way -= 1
        writer.write(answer(b"<p>map</p>"))


@pytest.mark.usefixtures("one_machine")
@pytest.mark.parametrize("most", [1, 2, 5])
async def test_many_hosts_of_one_address_are_asked_few_at_once(kit: MakeKit, most: int) -> None:
    server = Counting()
    asking = kit(requests_per_ip=most)
    async with serve(server) as loopback:
        asked = (asking.get(f"http://host{n}.example:{loopback.port}/") for n in range(30))
        got = await asyncio.gather(*asked)
    assert all(isinstance(one, Page) for one in got)
    assert server.most == most


@pytest.mark.usefixtures("one_machine")
async def test_without_a_limit_all_are_asked_at_once(kit: MakeKit) -> None:
    server = Counting()
    asking = kit(requests_per_ip=0)
    async with serve(server) as loopback:
        await asyncio.gather(*(asking.get(f"http://host{n}.example:{loopback.port}/") for n in range(30)))
    assert server.most > 5


async def test_through_a_proxy_no_address_is_known(kit: MakeKit) -> None:
    server = Counting()
    async with serve(server) as proxy:
        asking = kit(proxy=proxy.base)
        await asyncio.gather(*(asking.get(f"http://host{n}.example/") for n in range(30)))
    assert server.most > 5


@pytest.mark.usefixtures("one_machine")
async def test_half_the_delay_lies_between_two_requests_to_an_address(kit: MakeKit) -> None:
    clock = VirtualClock()
    begun: list[float] = []

    def respond(target: str, writer: asyncio.StreamWriter) -> bytes:
        begun.append(clock.now())
        return answer(b"<p>map</p>")

    async with serve(respond) as loopback:
        asking = kit(clock, delay_s=10.0)
        for n in range(4):
            await asking.get(f"http://host{n}.example:{loopback.port}/")
        assert [at - begun[0] for at in begun] == [0.0, 5.0, 10.0, 15.0]


def _bounds(clock: Clock, most: int) -> IpBounds:
    return IpBounds(clock, MemoryPoliteness(), most_at_once=most, lasts_s=30.0)


async def _enter(stack: AsyncExitStack, bounds: IpBounds, gap_s: float = 10.0, *, begins_turn: bool = True) -> None:
    await stack.enter_async_context(bounds.request("192.0.2.1", gap_s, begins_turn=begins_turn))


async def test_turns_that_are_put_off_come_again_one_after_the_other() -> None:
    bounds = _bounds(VirtualClock(), 2)
    waits = []
    async with AsyncExitStack() as stack:
        await _enter(stack, bounds)
        for _ in range(3):
            with pytest.raises(PutOff) as put_off:
                await _enter(stack, bounds)
            waits.append(put_off.value.for_s)
        async with bounds.request("192.0.2.2", 10.0, begins_turn=True):
            pass  # another address is free
    assert waits == [20.0, 30.0, 40.0]


async def test_a_turn_that_has_begun_waits() -> None:
    clock = VirtualClock()
    bounds, started = _bounds(clock, 2), clock.now()
    async with AsyncExitStack() as stack:
        await _enter(stack, bounds)
        await _enter(stack, bounds, begins_turn=False)
        assert clock.now() - started == 10.0


class Overslept(VirtualClock):
    """Time in which the first sleep lasts a minute longer."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds if self.slept else seconds + 60.0)


async def test_a_request_that_missed_its_time_takes_another_place() -> None:
    clock = Overslept()
    bounds, started = _bounds(clock, 3), clock.now()
    async with AsyncExitStack() as stack:
        await _enter(stack, bounds)
        await _enter(stack, bounds, begins_turn=False)
        assert clock.now() - started == 70.0
        await _enter(stack, bounds, begins_turn=False)
        assert clock.now() - started == 80.0


class Busy(MemoryPoliteness):
    """A database that answers after a fifth of a second, as one of a busy process does; counts what it is asked."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self.clock, self.asked = clock, 0

    async def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        self.asked += 1
        place = await super().enter_ip(ip, now, request)
        await self.clock.sleep(0.2)
        return place


async def test_a_busy_process_takes_a_place_once_and_keeps_the_distance_of_requests() -> None:
    clock = VirtualClock()
    busy = Busy(clock)
    bounds = IpBounds(clock, busy, most_at_once=3, lasts_s=30.0)
    async with AsyncExitStack() as stack:
        for number in range(20):
            await stack.enter_async_context(bounds.request(f"192.0.2.{number}", 0.5, begins_turn=True))
        assert busy.asked == 21, "the first one began late, and showed how late others will"
        begun = [clock.now()]
        for _ in range(3):
            async with bounds.request("192.0.2.19", 0.5, begins_turn=False):
                begun.append(clock.now())
        assert min(later - earlier for earlier, later in pairwise(begun)) >= 0.5


async def test_a_turn_is_put_off_for_ten_minutes_at_most() -> None:
    bounds = _bounds(VirtualClock(), 1)
    async with AsyncExitStack() as stack:
        await _enter(stack, bounds, 100.0)
        waits = []
        for _ in range(12):
            with pytest.raises(PutOff) as put_off:
                await _enter(stack, bounds, 100.0)
            waits.append(put_off.value.for_s)
    assert max(waits) == waits[-1] == 600.0


async def test_a_request_that_is_given_up_leaves_its_place(kit: MakeKit) -> None:
    bounds = _bounds(SystemClock(), 1)
    async with AsyncExitStack() as stack:
        await _enter(stack, bounds, 0.0)
        waiting = asyncio.create_task(_enter(AsyncExitStack(), bounds, 0.0, begins_turn=False))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with bounds.request("192.0.2.1", 0.0, begins_turn=True):
        pass


@pytest.mark.usefixtures("one_machine")
@pytest.mark.parametrize("ignore_robots", [True, False])
async def test_a_fetcher_that_may_put_off_says_when_the_host_may_come_again(ignore_robots: bool) -> None:
    clock = VirtualClock()
    chosen = settings(delay_s=10.0, ignore_robots=ignore_robots)
    fetcher = PoliteFetcher(chosen, MemoryPoliteness(), clock, user_agent=AGENT, may_put_off=True)
    async with serve(lambda target, writer: answer(b"<p>map</p>", content_type="text/plain")) as server:
        if not ignore_robots:  # a turn that reads robots.txt is given back once: the delay is the host's
            async with fetcher.turn(HostState("host0.example")) as turn:
                with pytest.raises(GivenBack, match=r"robots\.txt was read"):
                    await turn.fetch(url(f"http://host0.example:{server.port}/"), purpose=Purpose.PAGE)
            await clock.sleep(10.0)
        async with fetcher.turn(HostState("host0.example")) as turn:
            for purpose in (Purpose.PAGE, Purpose.PROBE):  # its later requests wait
                got = await turn.fetch(url(f"http://host0.example:{server.port}/"), purpose=purpose)
                assert isinstance(got, Page)
        sent, now = len(server.lines), clock.now()
        async with fetcher.turn(HostState("host1.example")) as turn:
            with pytest.raises(GivenBack, match=r"host1\.example: its IP address is busy"):
                await turn.fetch(url(f"http://host1.example:{server.port}/"), purpose=Purpose.PAGE)
        assert len(server.lines) == sent, "nothing was sent"
        assert (turn.host.next_at, turn.host.asked, turn.host.errors) == (now + 10.0, 0, 0)
        async with fetcher.turn(HostState("elsewhere.example")) as turn:
            elsewhere = await turn.fetch(url(f"http://elsewhere.example:{server.port}/"), purpose=Purpose.PAGE)
        assert isinstance(elsewhere, Failure) and elsewhere.code is FailureCode.REFUSED, "another machine was asked"
    await fetcher.close()
