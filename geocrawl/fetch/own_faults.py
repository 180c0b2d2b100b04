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
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from geocrawl.errors import OwnFault, described
from geocrawl.fetch.failures import Unreadable, is_refused_tunnel
from geocrawl.fetch.guard import is_literal
from geocrawl.fetch.names import NameCache
from geocrawl.fetch.proxy import Proxy
from geocrawl.fetch.tls import trusted_certificates
from geocrawl.model import FailureCode, Url
from geocrawl.resources import BACK, are_there, causes_of, lack_of
from geocrawl.sanitize import plain
from geocrawl.settings import Settings
from geocrawl.urls.hosts import in_url

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
        if not self._names_beyond_routes and _errnos(error) & _NO_ROUTE and not await has_route():
            return OwnFault("The network is down (no route)", "The network is back", has_route)
        if code in _MAY_BE_NAMES and not is_literal(url.host):
            return await self._fault_of_names(error, url.host)
        return None

    # ----------------------------------------------------------------------- the proxy

    async def _fault_of_proxy(self, error: BaseException, code: FailureCode, url: Url, proxy: Proxy) -> OwnFault | None:
        refused_tunnel = is_refused_tunnel(error)
        if code is FailureCode.PROXY and not proxy.is_socks and (refused_tunnel or isinstance(error, Unreadable)):
            return await self._fault_of_password(url, proxy)
        if code is FailureCode.PROXY:
            return self._away(proxy, _why(error))
        if refused_tunnel or code not in _MAY_BE_THE_PROXY:
            return None

        async def trouble() -> str:
            return await why_away(proxy, self._test_s)

        why = await self._tested_once(f"proxy {proxy.address}", trouble)
        return self._away(proxy, why) if why else None

    async def _fault_of_password(self, url: Url, proxy: Proxy) -> OwnFault | None:
        """Return a fault when the proxy itself answers 407: a server behind it may answer so, too."""

        async def refusal() -> str:
            wanted = await wants_password(proxy, url.host, self._test_s)
            return _LOCKED if wanted else ""

        async def is_over() -> bool:
            return not await refusal()

        why = await self._tested_once(f"password {proxy.address}", refusal)
        return _proxy_fault(proxy, why, is_over) if why else None

    def _away(self, proxy: Proxy, why: str) -> OwnFault:
        async def is_over() -> bool:
            return not await why_away(proxy, self._test_s)

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
                return await is_resolver_sure(host, self._test_s)
            return await resolves_any(known, self._test_s)

        async def trouble() -> str:
            return "" if await is_over() else "away"

        if not await self._tested_once(f"names {'' if names else host}", trouble):
            return None
        return OwnFault("No name can be resolved (DNS)", "Names are resolved again", is_over)

    async def _tested_once(self, key: str, test: Callable[[], Awaitable[str]]) -> str:
        """Return what a test finds. Failures that come while it runs wait, and share the next test's result."""
        failed_at = time.monotonic()
        async with self._testing:
            began_at, trouble = self._tested.get(key, (-math.inf, ""))
            if began_at < failed_at:
                began_at, trouble = time.monotonic(), await test()
                self._tested[key] = began_at, trouble
            return trouble


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


_DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_ROUTES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses for documentation (RFC 5737, RFC 3849), to which the way leads over the default route."""
_ANY_PORT = 9
_LOCKED = "wants a user name and a password (407)"
_NOBODY = "geocrawl.invalid"
"""A name that no server has (RFC 2606)."""
_STATUS_BYTES = 64


async def trouble_of(proxy: Proxy, limit_s: float) -> str:
    """Return what keeps requests from a proxy (`does not answer (refused)` …); '' for nothing. No site is asked."""
    if why := await why_away(proxy, limit_s):
        return f"does not answer ({why})"
    return _LOCKED if not proxy.is_socks and await wants_password(proxy, _NOBODY, limit_s) else ""


async def why_away(proxy: Proxy, limit_s: float) -> str:
    """Return why a proxy cannot be used (refused, reset, no answer …); '' when it answers.

    The request is about the proxy itself (RFC 9110, 9.3.7; RFC 1928, 3), so any answer shows that the proxy works.
    """
    if proxy.is_socks:
        return (await _asked(proxy, b"\x05\x02\x00\x02", limit_s))[0]
    parts = urlsplit(proxy.address)
    return (await _asked(proxy, _head(proxy, f"OPTIONS * HTTP/1.1\r\nHost: {parts.netloc}\r\n"), limit_s))[0]


async def wants_password(proxy: Proxy, host: str, limit_s: float) -> bool:
    """Return whether a proxy itself, and no server behind it, answers 407.

    It is asked for a tunnel to `host`, whose answer comes from the proxy alone (RFC 9110, 9.3.6); nothing is sent
    through it.
    """
    named = f"{in_url(host)}:443"
    status = (await _asked(proxy, _head(proxy, f"CONNECT {named} HTTP/1.1\r\nHost: {named}\r\n"), limit_s))[1]
    return status.split(b" ")[1:2] == [b"407"]


def _head(proxy: Proxy, lines: str) -> bytes:
    """Return the bytes of a request to an HTTP proxy."""
    if proxy.authorization:
        lines += f"Proxy-Authorization: {proxy.authorization}\r\n"
    return f"{lines}Connection: close\r\n\r\n".encode()


async def _asked(proxy: Proxy, request: bytes, limit_s: float) -> tuple[str, bytes]:
    """Send a request to a proxy. Return why it gave no answer ('' if it gave one), and the answer's first bytes."""
    parts = urlsplit(proxy.address)
    tls = trusted_certificates() if parts.scheme == "https" else None
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(limit_s):
            port = parts.port or _DEFAULT_PORTS[parts.scheme]
            reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=tls)
            writer.write(request)
            got = await reader.read(_STATUS_BYTES)
    except TimeoutError:
        return f"no answer in {limit_s:g} s", b""
    except ConnectionRefusedError:
        return "refused", b""
    except socket.gaierror:
        return "its name is not resolved", b""
    except OSError as error:
        return (error.strerror or described(error)).lower(), b""
    finally:
        if writer is not None:
            writer.transport.abort()
    return ("", got) if got else ("it hangs up", b"")


async def resolves_any(names: Sequence[str], limit_s: float) -> bool:
    """Return whether one of these names is resolved in time."""
    return 0 in await asyncio.gather(*(_resolution(name, limit_s) for name in names))


async def is_resolver_sure(name: str, limit_s: float) -> bool:
    """Return whether the resolver says in time that a name exists, or that it does not."""
    return await _resolution(name, limit_s) != socket.EAI_AGAIN


async def _resolution(name: str, limit_s: float) -> int:
    """Return the resolver's error number for a name: 0 for a name that is resolved, EAI_AGAIN for no answer in time.

    The name is looked up afresh, without waiting for other look-ups.
    """
    try:
        await NameCache(limit_s).addresses(name)
    except RuntimeError:  # no thread is left
        return socket.EAI_AGAIN
    except OSError as error:
        return error.errno or socket.EAI_FAIL
    return 0


async def has_route() -> bool:
    """Return whether this machine has a way to the rest of the net, of IPv4 or of IPv6. Nothing is sent."""
    for family, address in _ROUTES:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probing:
                probing.connect((address, _ANY_PORT))
        except OSError:
            continue
        return True
    return False
