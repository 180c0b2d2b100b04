"""Share the server's threads fairly among its visitors, and count what each has had of it lately.

A request counts once, and more for each twentieth of a second that threads work for it. When several wait for a thread,
the question that is expected to cost least is next, and visitors take turns among those that cost alike: so many
addresses with costly questions slow down each other, and hold up a cheap one for a few turns. Nobody gains by being
new: what is not known of a visitor is taken as a costlier question than those of people who look around.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from geocrawl.web.answers import Problem

_T = TypeVar("_T")

MAX_WAITING = 200
"""Most questions that wait for the threads of one pool."""
MOST_WAIT_S = 20.0
"""Seconds after which a question that still waits for a thread gets status 503."""
OLDEST_EVERY = 4
"""Each turn of this number is for the question that has waited longest, whatever it costs."""
COST_S = 0.05
"""So many seconds of a thread's work count as one more request."""
_BURST_S = 10.0
"""A client may send at once what it may send in this time on average."""
_LEAST_BURST = 20.0
_NEWCOMER_S = 0.1
"""Seconds of work that a new visitor's request is expected to cost: twice what people who look around cost at most."""
_CHEAP = math.frexp(_NEWCOMER_S)[1]
_HALVED_S = 60.0
"""What a visitor has had counts half as much after this time."""
_MOST_CLIENTS = 10_000


@dataclass(slots=True)
class Visitor:
    """Counts the requests and the processor time that one client was given lately."""

    left: float
    """Requests that it may still send; below 0 after a costly one."""
    at: float = 0.0
    """The time to which `left`, `had_s` and `answered` belong."""
    had_s: float = 0.0
    """Seconds of work; those of long ago count less."""
    answered: float = 0.0
    """Requests; those of long ago count less."""
    at_once: int = 0
    """Requests that are being answered."""

    @property
    def expected_s(self) -> float:
        """Return what a request of this visitor costs on average, one that was rather costly counted in."""
        return (_NEWCOMER_S + self.had_s) / (1.0 + self.answered)


VISITOR: ContextVar[Visitor] = ContextVar("VISITOR")
"""The visitor whose request the current task answers; unset for the server's own work."""


class Rates:
    """Counts the requests of clients (token bucket); an IPv6 client is its network of 64 bits."""

    def __init__(self, per_minute: int) -> None:
        """`per_minute`: requests of a client, on average; 0: no limit."""
        self._per_s = per_minute / 60
        self._most = max(self._per_s * _BURST_S, _LEAST_BURST)
        self._clients: OrderedDict[str, Visitor] = OrderedDict()

    def visitor(self, client: str, now: float) -> Visitor:
        """Return what is known of a client, with what it gained since."""
        key = network_of(client)
        known = self._clients.pop(key, None) or Visitor(self._most, now)
        self._clients[key] = known
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        since_s = now - known.at
        known.left = min(self._most, max(known.left, -self._most) + since_s * self._per_s)
        share = 0.5 ** (since_s / _HALVED_S)
        known.had_s *= share
        known.answered *= share
        known.at = now
        return known

    def wait_s(self, client: str, now: float) -> float:
        """Count a request; return 0, or how long the client must wait, in seconds."""
        visitor = self.visitor(client, now)
        if self._per_s and visitor.left < 1:
            return (1 - visitor.left) / self._per_s
        visitor.left -= 1
        return 0.0


def network_of(client: str) -> str:
    """Return what counts as one client: an IPv4 address, a network of 64 bits of IPv6, else the text itself."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return client


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A question that waits for a thread."""

    visitor: Visitor
    turn: asyncio.Future[None]
    costs: int
    """Its expected cost: the power of two that is above it."""
    round: int
    """Questions of one visitor that wait together belong to one round each."""

    @property
    def rank(self) -> tuple[int, int]:
        """Return what is least for the next one; the first to come is next among equals."""
        return self.costs, self.round


class Workers:
    """A few threads that work for visitors."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._free = threads
        self._kept = int(threads > 1)
        """Threads that costly questions leave to others."""
        self._waiting: list[_Waiting] = []
        """In the order of their arrival."""
        self._round = 0
        """The round of those who come now: the latest of which one had its turn."""
        self._turns = 0

    async def run(self, work: Callable[[], _T], cost_s: float = 0.0) -> _T:
        """Return what `work` returns, called in a thread. Raises Problem 503 when too many wait, or too long.

        `cost_s`: seconds of work that can be expected of the question itself, whoever asks it. Work that has begun goes
        on after a cancellation, and keeps its thread until it ends.
        """
        visitor = VISITOR.get(None) or Visitor(0.0)
        costs = math.frexp(max(cost_s, visitor.expected_s))[1]
        if self._has_thread(costs):
            self._free -= 1
        else:
            await self._turn(visitor, costs)
        loop = asyncio.get_running_loop()
        begun = self._pool.submit(_timed, work, visitor)
        begun.add_done_callback(partial(self._ended, loop))
        return await asyncio.wrap_future(begun)

    def _has_thread(self, costs: int) -> bool:
        return self._free > (self._kept if costs > _CHEAP else 0)

    async def _turn(self, visitor: Visitor, costs: int) -> None:
        """Wait for a thread; when too many wait, who would be the last is sent away."""
        before = sum(each.visitor is visitor for each in self._waiting)
        turn = asyncio.get_running_loop().create_future()
        waiting = _Waiting(visitor, turn, costs, self._round + before)
        self._waiting.append(waiting)
        if len(self._waiting) > MAX_WAITING:
            last = max(reversed(self._waiting), key=lambda each: each.rank)
            self._waiting.remove(last)
            last.turn.set_exception(_too_many())
        try:
            async with asyncio.timeout(MOST_WAIT_S):
                await turn
        except BaseException as error:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif not turn.cancelled() and turn.exception() is None:  # cancelled with its turn in hand
                self._next()
            if isinstance(error, TimeoutError):
                raise _too_many() from None
            raise

    def _ended(self, loop: asyncio.AbstractEventLoop, begun: Future[object]) -> None:
        """Give the thread to the next one, in the loop."""
        with suppress(RuntimeError):  # the loop is closed: the server ends
            loop.call_soon_threadsafe(self._next)

    def _next(self) -> None:
        self._free += 1
        self._waiting = [each for each in self._waiting if not each.turn.done()]
        ready = [each for each in self._waiting if self._has_thread(each.costs)]
        if not ready:
            return
        self._free -= 1
        self._turns += 1
        is_for_oldest = self._turns % OLDEST_EVERY == 0
        following = ready[0] if is_for_oldest else min(ready, key=lambda each: each.rank)
        self._waiting.remove(following)
        self._round = max(self._round, following.round)
        following.turn.set_result(None)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)


def _too_many() -> Problem:
    return Problem(503, "too many requests wait for the catalogue; try again", headers={"Retry-After": "10"})


def _timed(work: Callable[[], _T], visitor: Visitor) -> _T:
    """Do work in this thread, and count the time of its processor for the visitor."""
    begun = time.thread_time()
    try:
        return work()
    finally:
        took_s = time.thread_time() - begun
        visitor.had_s += took_s
        visitor.left -= took_s / COST_S
