"""Keep finished answers for as long as the catalogue stays the same, and answer 304 to clients that have them.

Pages and documents depend on the catalogue, the address, the language and the format alone. While a crawl writes, an
answer is kept for `FRESH_S`, so that a page that everybody asks for is made once in that time and not once a request.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import Response

FRESH_S = 5.0
"""Seconds for which a kept answer is sent again although the catalogue has changed."""
OLDEST_S = 60.0
"""Seconds for which a kept answer is sent again when nothing has changed; pages say how long ago things happened."""
MAX_BYTES = 64 * 1024 * 1024
_PACKED_FROM = 1_000
_VARY = "Accept, Accept-Encoding, Accept-Language, HX-Request"

Generation = Callable[[], object]


@dataclass(slots=True)
class Kept:
    """An answer that is kept to be sent again."""

    body: bytes
    media_type: str
    headers: dict[str, str]
    made_at: float
    generation: object
    etag: str = ""
    packed: bytes = field(default=b"")
    """The body compressed; empty when that does not help."""

    def __post_init__(self) -> None:
        self.etag = blake2b(self.body + self.media_type.encode(), digest_size=12).hexdigest()
        if len(self.body) >= _PACKED_FROM and not self.media_type.startswith("image/png"):
            self.packed = gzip.compress(self.body, 5, mtime=0)

    @property
    def size(self) -> int:
        """Return the bytes that are kept."""
        return len(self.body) + len(self.packed) + 500


class Answers:
    """Keeps answers; the ones that were not asked for the longest make room."""

    def __init__(self, generation: Generation) -> None:
        """`generation` returns a value that changes with the catalogue."""
        self._generation = generation
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._made: dict[str, asyncio.Future[Kept]] = {}
        self._size = 0

    async def answer(self, request: Request, key: str, make: Callable[[], Awaitable[Response]]) -> Response:
        """Return the kept answer of a key, or make it; requests for an answer that is being made wait for it."""
        kept = self._fresh(key)
        if kept is None:
            kept = await self._make(key, make)
        return respond(request, kept)

    def _fresh(self, key: str) -> Kept | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        age = time.monotonic() - kept.made_at
        if age > OLDEST_S or (age > FRESH_S and kept.generation != self._generation()):
            return None
        self._kept.move_to_end(key)
        return kept

    async def _make(self, key: str, make: Callable[[], Awaitable[Response]]) -> Kept:
        if (others := self._made.get(key)) is not None:
            return await asyncio.shield(others)
        future = self._made[key] = asyncio.get_running_loop().create_future()
        try:
            generation, begun = self._generation(), time.monotonic()
            response = await make()
            own = {name: value for name, value in response.headers.items() if name not in _OWN}
            kept = Kept(bytes(response.body), response.headers["content-type"], own, begun, generation)
            self._keep(key, kept)
            future.set_result(kept)
            return kept
        except BaseException as error:
            future.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            future.exception()  # nobody may be waiting for it
            raise
        finally:
            del self._made[key]

    def _keep(self, key: str, kept: Kept) -> None:
        if kept.size > MAX_BYTES // 16:
            return
        former = self._kept.pop(key, None)
        self._size += kept.size - (former.size if former else 0)
        self._kept[key] = kept
        while self._size > MAX_BYTES:
            self._size -= self._kept.popitem(last=False)[1].size


_OWN = frozenset({"content-length", "content-type"})


def respond(request: Request, kept: Kept) -> Response:
    """Return an answer as this client takes it: compressed, or 304 when it has it."""
    packs = bool(kept.packed) and "gzip" in request.headers.get("accept-encoding", "")
    etag = f'"{kept.etag}-gz"' if packs else f'"{kept.etag}"'
    headers = {"cache-control": "no-cache", **kept.headers, "etag": etag, "vary": _VARY}
    if has_it(request, kept.etag):
        return Response(status_code=304, headers=headers)
    if packs:
        return Response(kept.packed, 200, {**headers, "content-encoding": "gzip"}, media_type=kept.media_type)
    return Response(kept.body, 200, headers, media_type=kept.media_type)


def has_it(request: Request, etag: str) -> bool:
    """Return whether If-None-Match names an answer (weak comparison, RFC 9110, 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    known = {each.strip().removeprefix("W/").strip('"').removesuffix("-gz") for each in given.split(",")}
    return etag in known or "*" in known
