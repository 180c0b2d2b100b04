"""Look names up without blocking anything else: in separate threads, and each for a limited time.

The system's resolver is asked (`getaddrinfo`), so that a name means here what it means to every other program of the
machine: /etc/hosts, nsswitch.conf, a resolver of the local network. It blocks for as long as it likes and cannot be
interrupted. A look-up that takes too long is therefore abandoned with its thread, and only its own name fails: other
threads remain for other names, and the wait for a thread does not count. The threads are daemons, so that a process
that ends does not wait for them.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from typing import Protocol

_KEPT_S = 300.0
_MOST_KEPT = 4096
_MOST_THREADS = 128
"""Several times as many as workers: a silent name server occupies a thread for longer than `dns_timeout_s`."""

Addresses = tuple[tuple[socket.AddressFamily, str], ...]
"""IP addresses of a name, each with its family, in the system's order of preference."""


class Resolver(Protocol):
    """Knows the addresses of names."""

    async def addresses(self, name: str) -> Addresses:
        """Return the IP addresses of a name, at least one. Raise gaierror when there is none."""


class Names:
    """Looks names up, and remembers their addresses for five minutes."""

    def __init__(self, timeout_s: float, *, most_threads: int = _MOST_THREADS) -> None:
        """`timeout_s`: longest wait for the answer for a name, from when a thread asks for it."""
        self._timeout_s = timeout_s
        self._free_threads = asyncio.Semaphore(most_threads)
        self._known: OrderedDict[str, tuple[float, Addresses]] = OrderedDict()
        self._under_way: dict[str, asyncio.Future[Addresses]] = {}

    async def addresses(self, name: str) -> Addresses:
        """Return the IP addresses of a name, at least one.

        Raise gaierror when there is none, or no answer in time; RuntimeError when no thread can be started.
        """
        kept_until, known = self._known.get(name, (0.0, ()))
        if time.monotonic() < kept_until:
            return known
        answer = self._under_way.get(name)
        if answer is None:
            await self._free_threads.acquire()
            answer = self._begin(name)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await asyncio.shield(answer)
        except TimeoutError:
            text = f"no answer for {name} within {self._timeout_s:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, text) from None

    def _begin(self, name: str) -> asyncio.Future[Addresses]:
        """Let a thread look the name up, and return the future of the answer."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Addresses] = loop.create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # the waiting task may be gone
        self._under_way[name] = answer

        def end(found: Addresses | Exception) -> None:
            self._free_threads.release()
            if self._under_way.get(name) is answer:
                del self._under_way[name]
            if isinstance(found, Exception):
                answer.set_exception(found)
            else:
                self._keep(name, found)
                answer.set_result(found)

        def ask() -> None:
            found = _ask_system(name)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(end, found)

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
    found = {(socket.AddressFamily(family), str(where[0])): None for family, *_, where in rows if family in families}
    return tuple(found) or socket.gaierror(socket.EAI_NONAME, f"{name} has no IP address")
