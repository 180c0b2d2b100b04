"""Show pictures of layers: `/collections/services/items/{number}/preview`, fetched politely and kept for a while."""

from __future__ import annotations

import asyncio
import io
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError
from starlette.requests import Request
from starlette.responses import Response

from geocrawl.errors import GivenBack, OwnFault
from geocrawl.model import Failure, FailureCode, Page, Url
from geocrawl.sanitize import plain
from geocrawl.settings import Settings
from geocrawl.store.read.show import ServiceDetail
from geocrawl.urls.database import Place
from geocrawl.web.answers import Problem
from geocrawl.web.preview_requests import legend_url, picture_url, read_wanted
from geocrawl.web.preview_turns import PreviewTurns
from geocrawl.web.reader import detail_of, number_of
from geocrawl.web.site import site_of
from geocrawl.web.visitors import VISITOR


async def preview(request: Request) -> Response:
    """Return a PNG that the service drew. Raises Problem as `Previews.picture` does, and 404 without previews."""
    return await _shown(request, lambda service: picture_url(service, read_wanted(dict(request.query_params), service)))


async def legend(request: Request) -> Response:
    """Return the legend of a layer as PNG, likewise."""
    return await _shown(request, lambda service: legend_url(service, request.query_params.get("layer", "")))


async def _shown(request: Request, address_of: Callable[[ServiceDetail], Url]) -> Response:
    previews = site_of(request).previews
    if previews is None:
        raise Problem(404, "this server shows no previews (--no-preview)")
    picture = await previews.picture(address_of((await detail_of(request, number_of(request))).service))
    return Response(picture, headers={"Cache-Control": "private, max-age=600"}, media_type="image/png")


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
MAX_PIXELS = 2_048 * 2_048
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
_WHY = {
    FailureCode.ROBOTS: "robots.txt of the service's host forbids it",
    FailureCode.RESTING: "the service's host rests after too many requests or errors; try later",
    FailureCode.GUARD: "the service's address is in a private network",
    FailureCode.FORGOTTEN: "the owner of the host asked not to be asked",
    FailureCode.DNS: "the name of the service's host is not known",
    FailureCode.REFUSED: "no program answers at the service's address",
    FailureCode.TLS: "no safe connection to the service can be made; its certificate may be wrong",
    **dict.fromkeys(
        (FailureCode.TIMEOUT_CONNECT, FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL),
        "the service did not answer in time",
    ),
    FailureCode.RESET: "the service broke the connection off",
    FailureCode.BUDGET: "the requests for previews of this host are used up for this day",
}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A picture, or the problem that came instead."""

    picture: bytes
    problem: str
    until: float


class Previews:
    """Gives pictures of layers."""

    def __init__(self, turns: PreviewTurns, clock: Callable[[], float] = time.monotonic) -> None:
        """`turns` ask the hosts."""
        self._turns = turns
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._waiting = turns.asked
        """Numbers of pictures that wait, by host."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)

    async def picture(self, url: Url) -> bytes:
        """Return the picture at an address as PNG. Raises Problem: 502 when the service gives none, 503 when it cannot
        be asked now, 504 when it takes too long."""
        kept = self._kept.get(url.address)
        if kept is None or kept.until < self._clock():
            kept = await self._asked(url)
        if kept.problem:
            raise Problem(502, kept.problem)
        return kept.picture

    async def close(self) -> None:
        """Close all connections."""
        await self._turns.close()

    async def _asked(self, url: Url) -> _Kept:
        host = url.host
        if (visitor := VISITOR.get(None)) is not None:
            visitor.left -= COST - 1
        if self._waiting[host] >= MOST_WAITING_OF_HOST:
            raise Problem(503, "others wait for this service's host, too; try again", headers={"Retry-After": "3"})
        self._waiting[host] += 1
        lock = self._locks.setdefault(host, asyncio.Lock())
        try:
            async with asyncio.timeout(WAIT_S), lock:
                kept = self._kept.get(url.address)
                if kept is not None and kept.until >= self._clock():
                    return kept  # somebody before us wanted the same
                async with self._at_once:
                    return await self._fetched(url)
        except TimeoutError:
            raise Problem(504, f"the service gave no picture within {WAIT_S:.0f} s") from None
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host], self._locks[host]

    async def _fetched(self, url: Url) -> _Kept:
        try:
            answer = await self._turns.fetch(url)
        except (GivenBack, OwnFault):
            problem = "the service's host cannot be asked now; try again"
            raise Problem(503, problem, headers={"Retry-After": "5"}) from None
        picture, problem = await asyncio.to_thread(_picture_of, answer)
        kept = _Kept(picture, problem, self._clock() + (FAILED_S if problem else KEEP_S))
        self._keep(url.address, kept)
        return kept

    def _keep(self, address: str, kept: _Kept) -> None:
        former = self._kept.pop(address, None)
        self._size += len(kept.picture) - (len(former.picture) if former else 0)
        self._kept[address] = kept
        while self._size > MAX_KEPT_BYTES or len(self._kept) > 2_000:
            self._size -= len(self._kept.popitem(last=False)[1].picture)


def _picture_of(answer: Page | Failure) -> tuple[bytes, str]:
    """Return a picture written anew as PNG and '', or nothing and what came instead."""
    if isinstance(answer, Failure):
        return b"", _WHY.get(answer.code, f"the service gave no answer that can be read ({answer.code})")
    if answer.status >= 400:
        return b"", f"the service answered with status {answer.status}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opened = Image.open(io.BytesIO(answer.body), formats=_FORMATS)
            if opened.width * opened.height > MAX_PIXELS:
                return b"", f"the service sent an image of {opened.width} × {opened.height} pixels"
            written = io.BytesIO()
            opened.convert("RGBA").save(written, "PNG", compress_level=3)
            return written.getvalue(), ""
    except UnidentifiedImageError:
        text = plain(answer.body[:600].decode("utf-8", "replace"), 200)
        return b"", f"the service sent no image but: {text}" if text else "the service sent no image"
    except Exception as error:  # decoders raise what they like on a broken image
        return b"", f"the service sent a broken image ({plain(str(error), 100)})"


def open_previews(settings: Settings, catalogue: Place) -> Previews:
    """Return the previews of a catalogue, which the caller closes."""
    return Previews(PreviewTurns(settings, catalogue))
