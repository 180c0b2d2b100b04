"""Answer requests: the format and the language that a client wants, the cache of answers, problems.

Pages and documents depend on the catalogue, the address, the language and the format alone, so a finished answer is
kept for as long as the catalogue stays the same, and a client that has it is answered 304. While a crawl writes, an
answer is kept for `FRESH_S`: a page that everybody asks for is made once in that time and not once a request."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from http import HTTPStatus
from typing import Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.web.publishing import as_json

FRESH_S = 5.0
"""Seconds for which a kept answer is sent again although the catalogue has changed."""
OLDEST_S = 60.0
"""Seconds for which a kept answer is sent again when nothing has changed; pages say how long ago things happened."""
MAX_BYTES = 64 * 1024 * 1024
MAX_WAITING = 64
"""Most pieces of work that a few threads do or have before them."""
MAX_WAITING_OF_CLIENT = MAX_WAITING // 2
_PACKED_FROM = 1_000
_VARY = "Accept, Accept-Encoding, Accept-Language, HX-Request"

_T = TypeVar("_T")
Generation = Callable[[], object]
Make = Callable[[Request], Awaitable[Response]]
"""Makes the answer of a request."""


@dataclass(slots=True)
class CachedResponse:
    """An answer that is kept to be sent again."""

    body: bytes
    media_type: str
    headers: dict[str, str]
    made_at: float
    generation: object
    status: int = 200
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


class LazyResponse(Response):
    """An answer whose body is made when it is finished, in a thread: large ones take tenths of a second."""

    def __init__(self, make: Callable[[], bytes | str], status: int, headers: Mapping[str, str], media_type: str):
        self._make = make
        self._arguments = status, dict(headers), media_type
        super().__init__(None, *self._arguments)

    def finished(self) -> Response:
        """Return the answer with its body."""
        return Response(self._make(), *self._arguments)


CLIENT: ContextVar[object] = ContextVar("client", default="")
"""Whose request is being answered (`Guard`)."""


class Turns:
    """Which clients have a thread, over all `Workers` that share it: each has one at most."""

    def __init__(self) -> None:
        self.at_work = set[object]()
        self.shared_by = list[Workers]()


class Workers:
    """A few threads that work for visitors: for each client in turn, in the order of its requests.

    A client has one thread at a time, of all that share `turns`. Threads of Python take turns anyway, so that several
    would hardly do more for it, and would slow every other client down as much as so many clients."""

    def __init__(self, threads: int, name: str, turns: Turns | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._free = threads
        self._turns = turns or Turns()
        self._turns.shared_by.append(self)
        self._waiting: OrderedDict[object, deque[asyncio.Future[None]]] = OrderedDict()
        """By client; the one that had a turn last comes last."""
        self._under_way = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return what `work` returns, called in a thread. Raises Problem 503 when too many wait, or too many of one
        client.

        After a cancellation, work that has begun goes on and keeps its thread until it ends."""
        client = CLIENT.get()
        mine = self._waiting.get(client, deque())
        if self._under_way >= MAX_WAITING or len(mine) >= MAX_WAITING_OF_CLIENT:
            raise Problem(503, "too many requests wait for the catalogue; try again", headers={"Retry-After": "10"})
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        mine.append(turn)
        self._waiting[client] = mine
        self._under_way += 1
        try:
            self._admit()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._put_back(client)
                raise
            begun = self._pool.submit(work)
            begun.add_done_callback(partial(self._ended, loop, client))
            return await asyncio.wrap_future(begun)
        finally:
            self._under_way -= 1

    def _admit(self) -> None:
        while self._free:
            may_begin = (each for each in self._waiting if each not in self._turns.at_work)
            if (client := next(may_begin, None)) is None:
                return
            waiting = self._waiting.pop(client)
            turn = waiting.popleft()
            if waiting:
                self._waiting[client] = waiting
            if not turn.cancelled():
                self._turns.at_work.add(client)
                self._free -= 1
                turn.set_result(None)

    def _ended(self, loop: asyncio.AbstractEventLoop, client: object, _: object) -> None:
        with suppress(RuntimeError):  # the loop has ended, too
            loop.call_soon_threadsafe(self._put_back, client)

    def _put_back(self, client: object) -> None:
        self._free += 1
        self._turns.at_work.discard(client)
        for each in self._turns.shared_by:
            each._admit()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)


class SizedCache(Generic[_T]):
    """LRU cache of a bounded number of bytes; a value that takes more than an eighth of them is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[str, tuple[_T, int]] = OrderedDict()
        self._size = 0

    def get(self, key: str) -> _T | None:
        """Return the value of a key; None without one."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: str, value: _T, size: int) -> None:
        """Keep a value of some bytes; the ones that were used least recently make room."""
        self._size -= self._values.pop(key, (None, 0))[1]
        if size > self._max_bytes // 8:
            return
        self._values[key] = value, size
        self._size += size
        while self._size > self._max_bytes:
            self._size -= self._values.popitem(last=False)[1][1]


@dataclass(slots=True)
class _Making:
    """An answer that is being made, for all who wait for it."""

    task: asyncio.Task[CachedResponse]
    waiting: int = 0


class Answers:
    """Makes answers, and caches the finished ones."""

    def __init__(self, generation: Generation, workers: Workers) -> None:
        """`generation` returns a value that changes with the catalogue; `workers` make the bodies."""
        self._generation = generation
        self._workers = workers
        self._cache = SizedCache[CachedResponse](MAX_BYTES)
        self._made: dict[str, _Making] = {}

    async def answer(self, request: Request, key: str, make: Make) -> Response:
        """Return the kept answer of a key, or make it; requests for an answer that is being made wait for it."""
        kept = self._fresh(key)
        if kept is None:
            kept = await self._make(request, key, make)
        return respond(request, kept)

    def _fresh(self, key: str) -> CachedResponse | None:
        kept = self._cache.get(key)
        if kept is None:
            return None
        age = time.monotonic() - kept.made_at
        if age > OLDEST_S or (age > FRESH_S and kept.generation != self._generation()):
            return None
        return kept

    async def _make(self, request: Request, key: str, make: Make) -> CachedResponse:
        """Return the answer of a key once it is made; it is given up when all have left who wait for it."""
        making = self._made.get(key)
        if making is None:
            making = self._made[key] = _Making(asyncio.create_task(self._finish(request, key, make)))
        making.waiting += 1
        try:
            return await asyncio.shield(making.task)
        finally:
            making.waiting -= 1
            if not making.waiting and self._made.get(key) is making:
                del self._made[key]
                making.task.cancel()

    async def _finish(self, request: Request, key: str, make: Make) -> CachedResponse:
        generation, begun = self._generation(), time.monotonic()
        response = await make(request)

        def finish() -> CachedResponse:
            whole = response.finished() if isinstance(response, LazyResponse) else response
            own = {name: value for name, value in whole.headers.items() if name not in _OWN}
            return CachedResponse(
                bytes(whole.body), whole.headers["content-type"], own, begun, generation, whole.status_code
            )

        kept = await self._workers.run(finish)
        self._cache.put(key, kept, kept.size)
        return kept


_OWN = frozenset({"content-length", "content-type"})


def respond(request: Request, kept: CachedResponse) -> Response:
    """Return an answer as this client takes it: compressed, or 304 when it has it."""
    packs = bool(kept.packed) and "gzip" in request.headers.get("accept-encoding", "")
    etag = f'"{kept.etag}-gz"' if packs else f'"{kept.etag}"'
    headers = {"cache-control": "no-cache", **kept.headers, "etag": etag, "vary": _VARY}
    if kept.status == 200 and has_it(request, kept.etag):
        return Response(status_code=304, headers=headers)
    if packs:
        return Response(kept.packed, kept.status, {**headers, "content-encoding": "gzip"}, media_type=kept.media_type)
    return Response(kept.body, kept.status, headers, media_type=kept.media_type)


def has_it(request: Request, etag: str) -> bool:
    """Return whether If-None-Match names an answer (weak comparison, RFC 9110, 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    known = {each.strip().removeprefix("W/").strip('"').removesuffix("-gz") for each in given.split(",")}
    return etag in known or "*" in known


# --------------------------------------------------------------------------- format and language


class Format(StrEnum):
    """The format of an answer."""

    HTML = "html"
    JSON = "json"


LANGUAGES = ("en", "zh")
_JSON_TYPES = ("application/json", "application/*")
_JSON_SUFFIX = "+json"
"""Ends the media types whose documents are JSON (RFC 6839), such as that of OpenAPI."""
_HTML_TYPES = ("text/html", "application/xhtml+xml", "text/*")


def preferences(header: str) -> list[tuple[str, float]]:
    """Return the values of an Accept header with their weights, the most wanted first (RFC 9110, 12.5.1)."""
    found = []
    for part in header.split(",")[:40]:
        value, *parameters = (each.strip() for each in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.lower().startswith("q="):
                try:
                    weight = min(max(float(parameter[2:]), 0.0), 1.0)
                except ValueError:
                    weight = 0.0
        if value and weight > 0:
            found.append((value.lower(), weight))
    return sorted(found, key=lambda each: -each[1])


def wanted_format(request: Request) -> Format:
    """Return the format that `f` or Accept names, JSON without either. Raises Problem 400 for another `f`, 406 when
    Accept names none that there is."""
    if (named := request.query_params.get("f")) is not None:
        try:
            return Format(named.lower())
        except ValueError:
            raise bad_parameter("f", named, "html or json") from None
    if request.headers.get("hx-request") == "true":  # htmx accepts anything, and means a part of the page
        return Format.HTML
    accepted = preferences(request.headers.get("accept", "*/*"))
    for value, _ in accepted:
        if value in _HTML_TYPES:
            return Format.HTML
        if value in _JSON_TYPES or value == "*/*" or value.endswith(_JSON_SUFFIX):
            return Format.JSON
    if not accepted:
        return Format.JSON
    raise Problem(406, "there is HTML (text/html) and JSON (application/json), and Accept names neither")


def wanted_language(request: Request) -> str:
    """Return the language that `lang` or Accept-Language names; English when it is neither of the two."""
    named = request.query_params.get("lang", "").lower()
    if named in LANGUAGES:
        return named
    for value, _ in preferences(request.headers.get("accept-language", "")):
        if value.partition("-")[0] in LANGUAGES:
            return value.partition("-")[0]
    return LANGUAGES[0]


# --------------------------------------------------------------------------- problems

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that gets no answer: its status and a sentence for people."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        """`detail` says what is wrong and what to do, and is shown to the client."""
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def title(self) -> str:
        """Return the name of the status, such as Not Found."""
        return HTTPStatus(self.status).phrase


def too_slow() -> Problem:
    """Return the problem of a request whose answer takes too long."""
    return Problem(503, "the answer takes too long; ask for less", headers={"Retry-After": "30"})


def bad_parameter(name: str, value: str, expected: str) -> Problem:
    """Return the problem of a parameter whose value cannot be read."""
    shown = value if len(value) <= 80 else f"{value[:79]}…"
    return Problem(400, f"{name}={shown}: expected {expected}")


def problem_response(problem: Problem) -> Response:
    """Return a problem as a JSON document."""
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    return Response(
        as_json(body), problem.status, {**problem.headers, "Cache-Control": "no-store"}, media_type=MEDIA_TYPE
    )
