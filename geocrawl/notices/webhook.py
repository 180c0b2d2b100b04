"""Post a message to a web address, signed, and never to a private network unless the operator allows that.

The address is checked when the connection is made, so a name cannot pass the check and resolve to something else later.
Redirects are not followed, and nothing of the answer but its status is read.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from geocrawl import __version__
from geocrawl.fetch.guard import MARK, AddressGuard
from geocrawl.urls import read_url

SIGNATURE = "Geocrawl-Signature"
"""Header: `sha256=` and the HMAC-SHA256 of the body with the watch's secret, in hexadecimal."""
_TIMEOUT_S = 15.0
_REFUSED = "is in a private network; allow_private = true in the configuration permits that"


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header `SIGNATURE`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def refusal_of(address: str, *, allow_private: bool) -> str:
    """Return why an address cannot be a recipient, judged by its text; '' when it can."""
    url = read_url(address)
    if url is None or not address.lower().startswith(("http://", "https://")):
        return "is no web address"
    return "" if AddressGuard(allow_private=allow_private).lets_pass(url.host) else _REFUSED


async def post(address: str, message: Mapping[str, object], secret: str, *, allow_private: bool) -> str:
    """Post a message as JSON; return '' when the server took it (status 2xx), else what went wrong."""
    if refused := refusal_of(address, allow_private=allow_private):
        return refused
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"geocrawl/{__version__}",
        SIGNATURE: signature(secret, body),
    }
    guard = AddressGuard(allow_private=allow_private)
    connector = aiohttp.TCPConnector(socket_factory=guard.open_socket, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        transport = AiohttpTransport(client=session)
        async with httpx.AsyncClient(transport=transport, timeout=_TIMEOUT_S, trust_env=False) as client:
            return await _posted(client, address, body, headers)


async def _posted(client: httpx.AsyncClient, address: str, body: bytes, headers: Mapping[str, str]) -> str:
    try:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            client.stream("POST", address, content=body, headers=headers) as answer,
        ):
            return "" if answer.is_success else f"answered with status {answer.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return _failure(error)


def _failure(error: Exception) -> str:
    """Return what went wrong. httpx-aiohttp calls a refused connection a timeout: aiohttp's error says which it was."""
    cause = error.__cause__ or error
    if MARK in str(cause):
        return _REFUSED
    if isinstance(error, TimeoutError) or isinstance(cause, TimeoutError):
        return f"did not answer within {_TIMEOUT_S:g} s"
    return f"cannot be reached: {cause}"
