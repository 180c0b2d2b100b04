"""Give the hosts of a closed web times in which they answer, and replay their answers in these times.

Recordings have no times. So a host is drawn fast or slow by its name, 0.05 to 1.5 s for an answer, and each of its
answers takes half to twice that by its address; long answers take longer. The same address takes the same time in every
replay.
"""

from __future__ import annotations

import hashlib
import math

import httpx

from geocrawl.lab.recorded_worlds.replay import ReplayTransport

_FASTEST_S, _SLOWEST_S = 0.05, 1.5
_SPREAD = 2.0
_BYTES_A_SECOND = 1_000_000


def answer_s(host: str, address: str, size_bytes: int) -> float:
    """Return the seconds in which a host answers a request for one of its addresses."""
    own_s: float = _FASTEST_S * (_SLOWEST_S / _FASTEST_S) ** _drawn(host)
    factor: float = _SPREAD ** (2 * _drawn(address) - 1)
    return own_s * factor + size_bytes / _BYTES_A_SECOND


def _drawn(text: str) -> float:
    """Return a number from 0 up to 1 that a text determines, evenly spread over texts."""
    return math.ldexp(int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big"), -48)


class TimedTransport(ReplayTransport):
    """A transport over a closed web whose hosts answer in their own times, several at once."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request after its host's time."""
        url, answer = self.find(request)
        host = url.partition("://")[2].partition("/")[0]
        await self._clock.sleep(answer_s(host, url, len(answer.body)) + answer.seconds)
        return self.deliver(url, answer)
