"""Test what lies between this machine and the web: the proxy, the resolver of names, the routes.

No test sends anything to a server of the web.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from geocrawl.errors import described
from geocrawl.fetch.certificates import trusted_certificates
from geocrawl.fetch.names import Names
from geocrawl.fetch.proxy import Proxy

_DEFAULT_PORTS = {"http": 80, "https": 443}
_ROUTES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses for documentation (RFC 5737, RFC 3849), to which the way leads over the default route."""
_ANY_PORT = 9
_STATUS_BYTES = 64


async def why_away(proxy: Proxy, limit_s: float) -> str:
    """Return why a proxy cannot be used (refused, reset, no answer …); '' when it answers.

    The request is about the proxy itself (RFC 9110, 9.3.7), so any answer shows that the proxy works.
    """
    parts = urlsplit(proxy.address)
    return (await _asked(proxy, f"OPTIONS * HTTP/1.1\r\nHost: {parts.netloc}\r\n", limit_s))[0]


async def wants_password(proxy: Proxy, host: str, limit_s: float) -> bool:
    """Return whether a proxy itself, and no server behind it, answers 407.

    It is asked for a tunnel to `host`, whose answer comes from the proxy alone (RFC 9110, 9.3.6); nothing is sent
    through it.
    """
    named = f"[{host}]:443" if ":" in host else f"{host}:443"
    status = (await _asked(proxy, f"CONNECT {named} HTTP/1.1\r\nHost: {named}\r\n", limit_s))[1]
    return status.split(b" ")[1:2] == [b"407"]


async def _asked(proxy: Proxy, head: str, limit_s: float) -> tuple[str, bytes]:
    """Send a request to a proxy. Return why it gave no answer ('' if it gave one), and the answer's first bytes."""
    parts = urlsplit(proxy.address)
    if proxy.authorization:
        head += f"Proxy-Authorization: {proxy.authorization}\r\n"
    tls = trusted_certificates() if parts.scheme == "https" else None
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(limit_s):
            port = parts.port or _DEFAULT_PORTS[parts.scheme]
            reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=tls)
            writer.write(f"{head}Connection: close\r\n\r\n".encode())
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
    found = await asyncio.gather(*(_resolution(name, limit_s) for name in names))
    return any(each == 0 for each in found)


async def is_resolver_sure(name: str, limit_s: float) -> bool:
    """Return whether the resolver says in time that a name exists, or that it does not."""
    return await _resolution(name, limit_s) != socket.EAI_AGAIN


async def _resolution(name: str, limit_s: float) -> int:
    """Return the resolver's error number for a name: 0 for a name that is resolved, EAI_AGAIN for no answer in time.

    The name is looked up afresh, without waiting for other look-ups.
    """
    try:
        await Names(limit_s).addresses(name)
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
