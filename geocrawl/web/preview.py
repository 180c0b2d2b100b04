"""Show pictures of layers: `/collections/services/items/{number}/preview`, fetched politely and kept for a while."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.errors import GivenBack, OwnFault
from geocrawl.model import Failure, Page, Url
from geocrawl.settings import Settings
from geocrawl.urls.database import Place
from geocrawl.web.answers import Problem, wanted_language
from geocrawl.web.preview_drawings import Drawing
from geocrawl.web.preview_requests import Showing
from geocrawl.web.preview_turns import Fetch, PreviewTurns
from geocrawl.web.reader import detail_of, number_of
from geocrawl.web.site import site_of
from geocrawl.web.texts import Words
from geocrawl.web.visitors import VISITOR
from geocrawl.wording import Sentence


async def preview(request: Request) -> Response:
    """Return a PNG that the service drew, or that is drawn of what it sent. Raises Problem as `Previews.drawn` does,
    and 404 without previews."""
    return await _shown(request, lambda showing: showing.drawing(request.query_params))


async def legend(request: Request) -> Response:
    """Return the legend of a layer as PNG, likewise."""
    return await _shown(request, lambda showing: showing.legend(request.query_params))


async def info(request: Request) -> Response:
    """Return what a WMS says of a point of a map, as plain text, likewise."""
    return await _shown(request, lambda showing: showing.info(request.query_params), "text/plain")


async def _shown(request: Request, drawing_of: Callable[[Showing], Drawing], media_type: str = "image/png") -> Response:
    previews = site_of(request).previews
    if previews is None:
        raise Problem(404, "this server shows no previews (--no-preview)")
    try:
        drawn = await previews.drawn(drawing_of(Showing((await detail_of(request, number_of(request))).service)))
    except Problem as problem:
        said = Words(wanted_language(request)).say(problem.detail)
        raise Problem(problem.status, said, headers=problem.headers) from None
    return Response(drawn, headers={"Cache-Control": "private, max-age=600"}, media_type=media_type)


# --------------------------------------------------------------------------- fetching

MOST_AT_ONCE = 32
COST = 10
"""A picture that a service is asked for counts as so many requests of the visitor."""
MOST_WAITING_OF_HOST = 4
"""Most pictures that wait for one host: its pace allows about one a second."""
WAIT_S = 20.0
KEEP_S = 600.0
FAILED_S = 60.0
"""How long a failure is remembered, so that a broken service is not asked again at every click."""
MAX_KEPT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer of a service."""

    answer: Page | Failure
    until: float

    @property
    def size(self) -> int:
        """Return the bytes that it takes."""
        return len(self.answer.body) if isinstance(self.answer, Page) else 0


class Previews:
    """Asks services for what visitors want to see."""

    def __init__(self, turns: PreviewTurns, clock: Callable[[], float] = time.monotonic) -> None:
        """`turns` ask the hosts."""
        self._turns = turns
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._waiting = turns.asked
        """Numbers of previews that wait, by host."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)

    async def drawn(self, drawing: Drawing) -> bytes:
        """Return what a drawing makes of the answers to its requests, all of one host.

        Raises Problem: 502 when the service gives nothing that can be shown, 503 when it cannot be asked now, 504 when
        it takes too long."""
        under_way = _UnderWay(drawing)
        await self._go_on(under_way, self._answer_kept)
        if (wanted := under_way.wanted) is not None:
            await self._ask(wanted.host, under_way)
        if under_way.problem:
            until = self._clock() + FAILED_S
            for url in under_way.asked:
                if (kept := self._kept.get(url.address)) is not None:
                    self._kept[url.address] = replace(kept, until=min(kept.until, until))
            raise Problem(502, under_way.problem)
        return under_way.content

    async def close(self) -> None:
        """Close all connections."""
        await self._turns.close()

    async def _go_on(self, under_way: _UnderWay, answer_of: Callable[[Url], Awaitable[Page | Failure | None]]) -> None:
        """Give a drawing its answers, to its end or until one is not at hand."""
        if under_way.wanted is None:
            await asyncio.to_thread(under_way.begin)
        while (url := under_way.wanted) is not None and (answer := await answer_of(url)) is not None:
            await asyncio.to_thread(under_way.give, answer)

    async def _ask(self, host: str, under_way: _UnderWay) -> None:
        """Ask a host for what a drawing wants, in one turn."""
        if self._waiting[host] >= MOST_WAITING_OF_HOST:
            raise Problem(503, "others wait for this service's host, too; try again", headers={"Retry-After": "3"})
        self._waiting[host] += 1
        lock = self._locks.setdefault(host, asyncio.Lock())
        try:
            async with asyncio.timeout(WAIT_S), lock:
                await self._go_on(under_way, self._answer_kept)  # somebody before us may have wanted the same
                if under_way.wanted is None:
                    return
                async with self._at_once, self._turns.turn(host) as fetch:
                    await self._go_on(under_way, lambda url: self._answer(url, host, fetch))
        except TimeoutError:
            raise Problem(504, Sentence("the service gave no picture within {n:.0f} s", n=WAIT_S)) from None
        except (GivenBack, OwnFault):
            problem = "the service's host cannot be asked now; try again"
            raise Problem(503, problem, headers={"Retry-After": "5"}) from None
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host], self._locks[host]

    async def _answer_kept(self, url: Url) -> Page | Failure | None:
        kept = self._kept.get(url.address)
        return kept.answer if kept is not None and kept.until >= self._clock() else None

    async def _answer(self, url: Url, host: str, fetch: Fetch) -> Page | Failure:
        if url.host != host:
            raise Problem(502, "what the service shows is on another host, which is not asked for previews")
        if (kept := await self._answer_kept(url)) is not None:
            return kept
        if (visitor := VISITOR.get(None)) is not None:
            visitor.left -= COST - 1
        answer = await fetch(url)
        is_good = isinstance(answer, Page) and answer.status < 400
        self._keep(url.address, _Kept(answer, self._clock() + (KEEP_S if is_good else FAILED_S)))
        return answer

    def _keep(self, address: str, kept: _Kept) -> None:
        former = self._kept.pop(address, None)
        self._size += kept.size - (former.size if former else 0)
        self._kept[address] = kept
        while self._size > MAX_KEPT_BYTES or len(self._kept) > 2_000:
            self._size -= self._kept.popitem(last=False)[1].size


class _UnderWay:
    """A drawing under way."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self.wanted: Url | None = None
        """The address whose answer it waits for; None before the first one and after the last."""
        self.asked: list[Url] = []
        self.content, self.problem = b"", ""

    def begin(self) -> None:
        """Let it name its first address."""
        self._step(None)

    def give(self, answer: Page | Failure) -> None:
        """Give it the answer that it waits for."""
        self._step(answer)

    def _step(self, answer: Page | Failure | None) -> None:
        try:
            self.wanted = next(self._drawing).url if answer is None else self._drawing.send(answer).url
            self.asked.append(self.wanted)
        except StopIteration as end:
            self.wanted = None
            self.content, self.problem = end.value


def open_previews(settings: Settings, catalogue: Place) -> Previews:
    """Return the previews of a catalogue, which the caller closes."""
    return Previews(PreviewTurns(settings, catalogue))
