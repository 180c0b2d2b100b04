"""Show pictures of layers: `/collections/services/items/{number}/preview`, fetched politely and kept for a while."""

from __future__ import annotations

import asyncio
import io
import sys
import time
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from PIL import Image, UnidentifiedImageError
from starlette.requests import Request
from starlette.responses import Response

from geocrawl.app import wiring
from geocrawl.app.fetchers import make_fetcher
from geocrawl.errors import GivenBack, OwnFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import OwnHosts
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose, Url
from geocrawl.ports import Fetcher
from geocrawl.sanitize import masked, plain
from geocrawl.settings import MIB, Settings
from geocrawl.store import Store
from geocrawl.urls.database import Place
from geocrawl.web.answers import Problem
from geocrawl.web.preview_requests import picture_url, read_wanted
from geocrawl.web.reader import detail_of, number_of
from geocrawl.web.site import site_of


async def preview(request: Request) -> Response:
    """Return a PNG that the service drew. Raises Problem as `Previews.picture` does, and 404 without previews."""
    previews = site_of(request).previews
    if previews is None:
        raise Problem(404, "this server shows no previews (--no-preview)")
    service = (await detail_of(request, number_of(request))).service
    url = picture_url(service, read_wanted(dict(request.query_params), service))
    picture = await previews.picture(url)
    return Response(picture, headers={"Cache-Control": "private, max-age=600"}, media_type="image/png")


# --------------------------------------------------------------------------- fetching

MOST_AT_ONCE = 8
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
    FailureCode.BUDGET: "the host's requests of this day are used up",
}


@dataclass(frozen=True, slots=True)
class _Kept:
    """A picture, or the problem that came instead."""

    picture: bytes
    problem: str
    until: float


class Previews:
    """Gives pictures of layers."""

    def __init__(self, fetcher: Fetcher, asked: Counter[str], clock: Callable[[], float] = time.monotonic) -> None:
        """`asked` counts the pictures that wait for each host; `fetcher` asks no other host."""
        self._fetcher = fetcher
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._waiting = asked
        self._turns: dict[str, asyncio.Lock] = {}
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
        await self._fetcher.close()

    async def _asked(self, url: Url) -> _Kept:
        host = url.host
        if self._waiting[host] >= MOST_WAITING_OF_HOST:
            raise Problem(503, "others wait for this service's host, too; try again", headers={"Retry-After": "3"})
        self._waiting[host] += 1
        lock = self._turns.setdefault(host, asyncio.Lock())
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
                del self._waiting[host], self._turns[host]

    async def _fetched(self, url: Url) -> _Kept:
        try:
            async with self._fetcher.turn(HostState(url.host)) as turn:
                answer = await turn.fetch(url, purpose=Purpose.MAP)
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
        said = plain(masked(answer.detail), 200)
        return b"", _WHY.get(answer.code, f"the service did not answer ({answer.code}{': ' + said if said else ''})")
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


# --------------------------------------------------------------------------- politeness

_MAX_BODY_BYTES = 4 * MIB
_TOTAL_TIMEOUT_S = 15.0


class AskedHosts(OwnHosts):
    """Covers every host that no preview is about (`ports.HostLeases`): a redirect leads nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        """Host → previews that ask it now."""

    async def covers(self, host: str) -> bool:
        """Return whether a host must not be asked."""
        return not self.asked[host]


@contextmanager
def open_previews(settings: Settings, catalogue: Place) -> Iterator[Previews]:
    """Yield the previews of a catalogue. A catalogue that cannot be written is not shared with: a line says so."""
    clock, hosts = SystemClock(), AskedHosts()
    bounded = replace(
        settings,
        map_body_bytes=min(settings.map_body_bytes, _MAX_BODY_BYTES),
        total_timeout_s=min(settings.total_timeout_s, _TOTAL_TIMEOUT_S),
        ignore_robots=False,
        # A password was given for the crawl, not for whoever visits the pages.
        sites={name: replace(site, user="", password="") for name, site in settings.sites.items()},
    )

    def say(line: str) -> None:
        sys.stderr.write(f"geocrawl: previews: {line}\n")

    with (
        wiring.shared_politeness(catalogue, bounded, clock, say) as sharing,
        Store.open("sqlite://", clock=clock) as scratch,
    ):
        fetcher = make_fetcher(bounded, scratch.robots(), clock, hosts=hosts, share_with=sharing)
        yield Previews(fetcher, hosts.asked)
