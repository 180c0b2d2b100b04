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

import httpx

from geocrawl import __version__
from geocrawl.fetch.failures import WEB_ERRORS, classify
from geocrawl.fetch.guard import AddressGuard
from geocrawl.fetch.names import Names
from geocrawl.fetch.transport import PooledTransport, request_for
from geocrawl.model import FailureCode
from geocrawl.settings import Settings
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
        return "is no web address; expected a web address, mail:ADDRESS or file:PATH"
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
    request = request_for(address, [(name.encode(), value.encode()) for name, value in headers.items()], body=body)
    transport = PooledTransport(Settings(), AddressGuard(allow_private=allow_private), Names(_TIMEOUT_S))
    try:
        async with asyncio.timeout(_TIMEOUT_S), httpx.AsyncClient(transport=transport, trust_env=False) as client:
            answer = await client.send(request, stream=True)
            await answer.aclose()
    except WEB_ERRORS as error:
        return _failure(error)
    return "" if answer.is_success else f"answered with status {answer.status_code}"


def _failure(error: Exception) -> str:
    code, detail = classify(error)
    if code is FailureCode.GUARD:
        return _REFUSED
    if isinstance(error, TimeoutError):
        return f"did not answer within {_TIMEOUT_S:g} s"
    return f"cannot be reached: {detail}"
