"""Distinguish faults of this machine from failures of servers: a proxy, the name resolution or the network is down.

A failure that may be either is tested before anything is recorded of it: the proxy is asked for something of its own,
names that were resolved before are resolved again, the routes of this machine are looked up. No test sends anything to
a server of the web, and nothing that a server does makes its own failure look like a fault of this machine.
"""

from __future__ import annotations

import asyncio
import errno
import math
import re
import socket
import time
from collections.abc import Awaitable, Callable

from geocrawl.errors import OwnFault
from geocrawl.fetch import reachability
from geocrawl.fetch.failures import Unreadable
from geocrawl.fetch.guard import is_literal
from geocrawl.fetch.proxy import Proxy
from geocrawl.fetch.wire_errors import TunnelRefused
from geocrawl.model import FailureCode, Url
from geocrawl.resources import BACK, are_there, causes_of, lack_of
from geocrawl.sanitize import plain
from geocrawl.settings import Settings

_MAY_BE_THE_PROXY = frozenset(
    {
        FailureCode.REFUSED,
        FailureCode.TLS,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.TIMEOUT_READ,
        FailureCode.TIMEOUT_TOTAL,
        FailureCode.RESET,
        FailureCode.TRUNCATED,
        FailureCode.BAD_HTTP,
    }
)
_MAY_BE_NAMES = frozenset({FailureCode.DNS, FailureCode.TIMEOUT_CONNECT})
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL})
_ERRNO = re.compile(r"\[Errno (\d+)\]")
_NAMES, _REMEMBERED = 3, 20
_WHY_CHARS = 100
_TEST_S = 5.0
"""Longest time of a test; shorter if connecting may take less."""


class OwnFaults:
    """Judges the failures of one client's requests."""

    def __init__(self, settings: Settings) -> None:
        self._test_s = min(settings.connect_timeout_s, _TEST_S)
        self._names_beyond_routes = settings.allow_private
        self._resolved: dict[str, None] = {}
        """Hosts that answered without a proxy, so that their names were resolved; the last one at the end."""
        self._testing = asyncio.Lock()
        self._tested: dict[str, tuple[float, str]] = {}

    def answered(self, url: Url, proxy: Proxy | None) -> None:
        """Note that the server of an address answered."""
        if proxy is None and not is_literal(url.host):
            self._resolved.pop(url.host, None)
            self._resolved[url.host] = None
            if len(self._resolved) > _REMEMBERED:
                del self._resolved[next(iter(self._resolved))]

    async def fault_of(self, error: BaseException, code: FailureCode, url: Url, proxy: Proxy | None) -> OwnFault | None:
        """Return the fault of this machine that a failed request shows; None when the failure is the server's."""
        if code is FailureCode.MACHINE:
            return OwnFault(lack_of(error), BACK, are_there)
        if code is FailureCode.GUARD:
            return None
        if proxy is not None:
            return await self._fault_of_proxy(error, code, url, proxy)
        if not self._names_beyond_routes and _errnos(error) & _NO_ROUTE and not await reachability.has_route():
            return OwnFault("The network is down (no route)", "The network is back", reachability.has_route)
        if code in _MAY_BE_NAMES and not is_literal(url.host):
            return await self._fault_of_names(error, url.host)
        return None

    # ----------------------------------------------------------------------- the proxy

    async def _fault_of_proxy(self, error: BaseException, code: FailureCode, url: Url, proxy: Proxy) -> OwnFault | None:
        refused_tunnel = any(isinstance(one, TunnelRefused) for one in causes_of(error))
        if code is FailureCode.PROXY and (refused_tunnel or isinstance(error, Unreadable)):
            return await self._fault_of_password(url, proxy)
        if code is FailureCode.PROXY:
            return self._away(proxy, _why(error))
        if refused_tunnel or code not in _MAY_BE_THE_PROXY:
            return None

        async def why_away() -> str:
            return await reachability.why_away(proxy, self._test_s)

        why = await self._tested_once(f"proxy {proxy.address}", why_away)
        return self._away(proxy, why) if why else None

    async def _fault_of_password(self, url: Url, proxy: Proxy) -> OwnFault | None:
        """Return a fault when the proxy itself answers 407: a server behind it may answer so, too."""

        async def refusal() -> str:
            wanted = await reachability.wants_password(proxy, url.host, self._test_s)
            return "wants a user name and a password (407)" if wanted else ""

        async def is_over() -> bool:
            return not await refusal()

        why = await self._tested_once(f"password {proxy.address}", refusal)
        return _proxy_fault(proxy, why, is_over) if why else None

    def _away(self, proxy: Proxy, why: str) -> OwnFault:
        async def is_over() -> bool:
            return not await reachability.why_away(proxy, self._test_s)

        return _proxy_fault(proxy, f"does not answer ({why})", is_over)

    # ----------------------------------------------------------------------- names

    async def _fault_of_names(self, error: BaseException, host: str) -> OwnFault | None:
        """Return a fault when no name that was resolved before is resolved now.

        Until one was resolved, a resolver that says "try again" is at fault, and one that says "unknown" is believed.
        """
        names = [name for name in self._resolved if name != host][-_NAMES:]
        unsure = any(isinstance(one, socket.gaierror) and one.errno == socket.EAI_AGAIN for one in causes_of(error))
        if not names and not unsure:
            return None

        async def is_over() -> bool:
            known = [name for name in self._resolved if name != host][-_NAMES:]
            if not known:
                return await reachability.is_resolver_sure(host, self._test_s)
            return await reachability.resolves_any(known, self._test_s)

        async def trouble() -> str:
            return "" if await is_over() else "away"

        if not await self._tested_once(f"names {'' if names else host}", trouble):
            return None
        return OwnFault("No name can be resolved (DNS)", "Names are resolved again", is_over)

    async def _tested_once(self, key: str, test: Callable[[], Awaitable[str]]) -> str:
        """Return what a test finds. Failures that come while it runs wait, and share the next test's result."""
        failed_at = time.monotonic()
        async with self._testing:
            began_at, found = self._tested.get(key, (-math.inf, ""))
            if began_at < failed_at:
                began_at, found = time.monotonic(), await test()
                self._tested[key] = began_at, found
            return found


def _proxy_fault(proxy: Proxy, trouble: str, is_over: Callable[[], Awaitable[bool]]) -> OwnFault:
    return OwnFault(f"The proxy {proxy.address} {trouble}", f"The proxy {proxy.address} answers again", is_over)


def _why(error: BaseException) -> str:
    """Return in a few words why a proxy could not be connected."""
    for one in causes_of(error):
        if isinstance(one, socket.gaierror):
            return "its name is not resolved"
        if isinstance(one, ConnectionRefusedError):
            return "refused"
    return plain(str(error), _WHY_CHARS)


def _errnos(error: BaseException) -> set[int]:
    """Return the numbers of all system errors of a failure; those of a name's several addresses come as one text."""
    numbers = set[int]()
    for one in causes_of(error):
        if isinstance(one, OSError) and not isinstance(one, socket.gaierror):
            numbers.update(map(int, _ERRNO.findall(str(one))))
            if one.errno is not None:
                numbers.add(one.errno)
    return numbers
