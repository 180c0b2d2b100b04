"""Look names up without blocking anything else: in separate threads, and each for a limited time.

The system's resolver is asked (`getaddrinfo`), so that a name means here what it means to every other program of the
machine: /etc/hosts, nsswitch.conf, a resolver of the local network. It blocks for as long as it likes and cannot be
interrupted. A look-up that takes too long is therefore abandoned with its thread, and only its own name fails: another
thread takes its place, as long as not too many hang. The threads are daemons, so that a process that ends does not wait
for them.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable
from contextlib import suppress
from typing import Protocol, TypeVar

_Got = TypeVar("_Got")

_KEPT_S = 300.0
_MOST_KEPT = 4096
_MOST_THREADS = 128
_MOST_HANGING = 512
"""Most look-ups that are abandoned and not over. When there are more, names wait for a thread, and fail without one."""

Addresses = tuple[tuple[socket.AddressFamily, str], ...]
"""IP addresses of a name, each with its family, in the system's order of preference."""


class Resolver(Protocol):
    """Knows the addresses of names."""

    async def addresses(self, name: str) -> Addresses:
        """Return the IP addresses of a name, at least one. Raise gaierror for a name without addresses."""


class NameCache:
    """Looks names up, and remembers their addresses for five minutes."""

    def __init__(
        self, timeout_s: float, *, most_threads: int = _MOST_THREADS, most_hanging: int = _MOST_HANGING
    ) -> None:
        """`timeout_s`: longest wait for the answer for a name; twice as long for a thread before."""
        self._timeout_s = timeout_s
        self._free_threads = asyncio.Semaphore(most_threads)
        self._most_hanging, self._hanging = most_hanging, 0
        self._known: OrderedDict[str, tuple[float, Addresses]] = OrderedDict()
        self._under_way: dict[str, asyncio.Future[Addresses]] = {}

    async def addresses(self, name: str) -> Addresses:
        """Return the IP addresses of a name, at least one.

        Raise gaierror for a name without addresses, or without an answer in time; RuntimeError when no thread can be
        started.
        """
        kept_until, known = self._known.get(name, (0.0, ()))
        if time.monotonic() < kept_until:
            return known
        answer = self._under_way.get(name)
        if answer is None:
            # Threads that look up names that hang are given up meanwhile.
            await self._in_time(self._free_threads.acquire(), name, 2 * self._timeout_s)
            answer = self._under_way.get(name)  # others may have begun it meanwhile
            if answer is None:
                answer = self._begin(name)
            else:
                self._free_threads.release()
        return await self._in_time(asyncio.shield(answer), name, self._timeout_s)

    async def _in_time(self, waiting: Awaitable[_Got], name: str, longest_s: float) -> _Got:
        try:
            async with asyncio.timeout(longest_s):
                return await waiting
        except TimeoutError:
            text = f"no answer for {name} within {longest_s:g} s"
            text += f" ({self._hanging} other look-ups hang)" if self._hanging >= self._most_hanging else ""
            raise socket.gaierror(socket.EAI_AGAIN, text) from None

    def _begin(self, name: str) -> asyncio.Future[Addresses]:
        """Let a thread look the name up, and return the future of the answer."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Addresses] = loop.create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # the waiting task may be gone
        self._under_way[name] = answer
        is_abandoned = False

        def abandon() -> None:
            nonlocal is_abandoned
            if self._hanging < self._most_hanging:
                is_abandoned = True
                self._hanging += 1
                self._free_threads.release()

        def end(found: Addresses | Exception) -> None:
            late.cancel()
            if is_abandoned:
                self._hanging -= 1
            else:
                self._free_threads.release()
            if self._under_way.get(name) is answer:
                del self._under_way[name]
            if isinstance(found, Exception):
                answer.set_exception(found)
            else:
                self._keep(name, found)
                answer.set_result(found)

        def ask() -> None:
            addresses = _ask_system(name)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(end, addresses)

        late = loop.call_later(self._timeout_s, abandon)
        try:
            threading.Thread(target=ask, name=f"look-up of {name}", daemon=True).start()
        except RuntimeError as error:  # the system has no thread left for this process
            end(error)
        return answer

    def _keep(self, name: str, found: Addresses) -> None:
        self._known[name] = (time.monotonic() + _KEPT_S, found)
        self._known.move_to_end(name)
        if len(self._known) > _MOST_KEPT:
            self._known.popitem(last=False)


def _ask_system(name: str) -> Addresses | Exception:
    """Return what the system's resolver says about a name, or the error that it raises."""
    try:
        rows = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except Exception as error:  # OSError, or UnicodeError of a name that cannot be one
        return error
    families = (socket.AF_INET, socket.AF_INET6)
    addresses = {
        (socket.AddressFamily(family), str(where[0])): None for family, *_, where in rows if family in families
    }
    return tuple(addresses) or socket.gaierror(socket.EAI_NONAME, f"{name} has no IP address")
