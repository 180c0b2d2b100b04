"""A kept connection that the server ends: the request is repeated once, after the delay, and both are counted."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose
from tests.support.http_server import answer, serve

from .conftest import Kit, VirtualClock, url

MakeKit = Callable[..., Kit]
DELAY_S = 10.0
End = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()


async def reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Ending:
    """Answers a number of requests on each connection, and ends it at the next; its log is in the crawler's time."""

    def __init__(self, clock: VirtualClock, end: End, answered: int) -> None:
        self._clock, self._end, self._answered = clock, end, answered
        self._requests_of: dict[asyncio.StreamWriter, int] = {}
        self.log: list[tuple[float, str]] = []

    def __call__(self, target: str, writer: asyncio.StreamWriter) -> bytes | Awaitable[None]:
        self.log.append((self._clock.now(), target))
        self._requests_of[writer] = self._requests_of.get(writer, 0) + 1
        ended = self._requests_of[writer] > self._answered
        return self._end(writer) if ended else answer(b"<p>map</p>")

    @property
    def gaps_s(self) -> list[float]:
        return [after - before for (before, _), (after, _) in pairwise(self.log)]


@pytest.mark.parametrize("end", [close, reset])
@pytest.mark.parametrize("purpose", [Purpose.PAGE, Purpose.PROBE, Purpose.MAP])
async def test_the_repeat_on_a_new_connection_waits_and_counts(kit: MakeKit, end: End, purpose: Purpose) -> None:
    clock = VirtualClock()
    server, parts = Ending(clock, end, answered=1), kit(clock, delay_s=DELAY_S)
    async with serve(server) as loopback, parts.turn() as turn:
        for target in ("/a", "/b"):
            assert isinstance(await turn.fetch(url(loopback.base + target), purpose=purpose), Page)
        assert [target for _, target in server.log] == ["/a", "/b", "/b"]
        assert server.gaps_s == [DELAY_S, DELAY_S]
        assert (turn.host.asked, turn.host.errors, turn.host.next_at) == (3, 0, clock.now() + DELAY_S)


@pytest.mark.parametrize("end", [close, reset])
async def test_a_server_that_ends_every_connection_is_asked_twice_and_is_in_trouble(kit: MakeKit, end: End) -> None:
    clock = VirtualClock()
    server, parts = Ending(clock, end, answered=1), kit(clock, delay_s=DELAY_S)
    async with serve(server) as loopback, parts.turn() as turn:
        assert isinstance(await turn.fetch(url(loopback.base + "/a"), purpose=Purpose.PAGE), Page)
        server._answered = 0
        got = await turn.fetch(url(loopback.base + "/b"), purpose=Purpose.PAGE)
        assert isinstance(got, Failure) and got.code is FailureCode.RESET
        assert [target for _, target in server.log] == ["/a", "/b", "/b"]
        assert server.gaps_s == [DELAY_S, DELAY_S]
        assert (turn.host.asked, turn.host.errors) == (3, 1), "one error: a kept connection may end at any time"


@pytest.mark.parametrize("end", [close, reset])
async def test_a_request_on_a_new_connection_is_not_repeated(kit: MakeKit, end: End) -> None:
    clock = VirtualClock()
    server, parts = Ending(clock, end, answered=0), kit(clock, delay_s=DELAY_S)
    async with serve(server) as loopback, parts.turn() as turn:
        got = await turn.fetch(url(loopback.base + "/a"), purpose=Purpose.PAGE)
        assert isinstance(got, Failure) and got.code is FailureCode.RESET
        assert len(server.log) == turn.host.asked == turn.host.errors == 1


async def test_robots_txt_on_a_connection_kept_from_an_earlier_turn_is_repeated_so(kit: MakeKit) -> None:
    clock = VirtualClock()
    server, parts = Ending(clock, close, answered=1), kit(clock, delay_s=DELAY_S, ignore_robots=False)
    async with serve(server) as loopback:
        async with parts.turn() as turn:
            await turn.fetch(url(loopback.base + "/a"), purpose=Purpose.PAGE)
        state = turn.host
        clock.time += 90_000.0  # its robots.txt is a day old
        async with parts.fetcher.turn(HostState(state.name, state.next_at)) as turn:
            await turn.fetch(url(loopback.base + "/b"), purpose=Purpose.PAGE)
    assert min(server.gaps_s) >= DELAY_S
    assert [target for _, target in server.log].count("/robots.txt") >= 2


async def test_through_a_proxy_it_is_the_same(kit: MakeKit) -> None:
    clock = VirtualClock()
    server = Ending(clock, close, answered=1)
    async with serve(server) as proxy:
        parts = kit(clock, delay_s=DELAY_S, proxy=proxy.base)
        async with parts.turn("a.example") as turn:
            for target in ("/a", "/b"):
                assert isinstance(await turn.fetch(url(f"http://a.example{target}"), purpose=Purpose.PAGE), Page)
            assert turn.host.asked == 3
    assert server.gaps_s == [DELAY_S, DELAY_S]
