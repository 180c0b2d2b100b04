"""Show layers: `/collections/services/items/{number}/preview`, requested politely, relayed, and cached for a while.

Requests are those of a visitors' guest (`fetch/guests.py`), which leases a host in the catalogue as every request does.
They have requests a day, errors and back-offs of their own, and write nothing into the catalogue but when a host may be
asked next and a robots.txt that was read. Without a lease nothing is asked.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.app.fetchers import make_guest_fetcher
from geocrawl.errors import DatabaseFault, GivenBack, OwnFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.guests import RefusedTurn
from geocrawl.model import Failure, HostState, Page, Purpose, Url
from geocrawl.ports import Ask, Fetcher, Turn
from geocrawl.settings import MIB, Settings
from geocrawl.store import Store
from geocrawl.urls.database import DatabaseUrl
from geocrawl.web.answers import Problem, SizedCache, Workers, wanted_language
from geocrawl.web.preview_exchanges import Exchange, Relay
from geocrawl.web.preview_requests import ServicePreviews
from geocrawl.web.rates import Client
from geocrawl.web.reader import identity_of
from geocrawl.web.site import detail_of, number_of, site_of
from geocrawl.web.texts import Words
from geocrawl.wording import Sentence

HEADERS = {
    "Cache-Control": "private, max-age=600",
    "Content-Disposition": "inline",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of relayed content: a browser that takes it for a document runs nothing of it and gives it no origin."""


async def preview(request: Request) -> Response:
    """Return what a browser draws of a layer: a picture that the service made, the places of tiles as JSON or one of
    those tiles, or outlines of features as GeoJSON. Raises Problem as `Previews.relay` does, 404 without previews."""
    return await _relayed(request, ServicePreviews.exchange)


async def legend(request: Request) -> Response:
    """Return the legend of a layer, a picture that the service made, likewise."""
    return await _relayed(request, ServicePreviews.legend)


async def info(request: Request) -> Response:
    """Return what a WMS says of a point of a map, as plain text, likewise."""
    return await _relayed(request, ServicePreviews.info)


async def _relayed(request: Request, exchange_of: Callable[[ServicePreviews, dict[str, str]], Exchange]) -> Response:
    previews = site_of(request).previews
    if previews is None:
        raise Problem(404, "this server shows no previews (--no-preview)")
    layers, parameters = ServicePreviews(await detail_of(request, number_of(request))), dict(request.query_params)
    try:
        relay = await previews.relay(lambda: exchange_of(layers, parameters), request.state.client)
    except Problem as problem:
        said = Words(wanted_language(request)).say(problem.detail)
        raise Problem(problem.status, said, headers=problem.headers) from None
    return Response(relay.body, headers=HEADERS, media_type=relay.media_type)


# --------------------------------------------------------------------------- requests to services

MOST_AT_ONCE = 32
COST = 10
"""A request to a service counts as so many requests of the client."""
MOST_WAITING_OF_HOST = 4
"""Most previews that wait for one host: its pace allows about one request a second."""
WAIT_S = 20.0
KEEP_S = 600.0
FAILED_S = 60.0
"""How long a failure is remembered, so that a broken service is not asked again at every click."""
MAX_CACHE_BYTES = 32 * 1024 * 1024
_ENTRY_BYTES = 16 * 1024
"""Least size that is counted for a cached answer, so that small ones are bounded in number."""
REQUESTS_PER_DAY = 500
"""Most requests for previews to one host a day (UTC), where the operator sets no limit for all requests."""
_SHARE, _LEAST = 0.1, 2
"""Share of such a limit that previews have besides, and the fewest requests: robots.txt and a picture."""
_BUSY_S = 0.25
"""Longest wait for a locked catalogue."""
_MAX_BODY_BYTES = 4 * MIB
_TOTAL_TIMEOUT_S = 15.0


def preview_settings(settings: Settings) -> Settings:
    """Return the settings with the limits of previews."""
    sites = {
        # A password was given for the crawl, not for whoever visits the pages.
        name: replace(site, user="", password="", requests_per_day=_share(site.requests_per_day, 0))
        for name, site in settings.sites.items()
    }
    return replace(
        settings,
        map_body_bytes=min(settings.map_body_bytes, _MAX_BODY_BYTES),
        total_timeout_s=min(settings.total_timeout_s, _TOTAL_TIMEOUT_S),
        ignore_robots=False,
        requests_per_host_per_day=_share(settings.requests_per_host_per_day, REQUESTS_PER_DAY),
        requests_per_ip=max(settings.requests_per_ip - 1, min(settings.requests_per_ip, 1)),  # one is the daemon's
        sites=sites,
    )


def _share(limit: int, unlimited: int) -> int:
    return min(max(int(_SHARE * limit), _LEAST), REQUESTS_PER_DAY) if limit else unlimited


class Previews:
    """Makes the exchanges that visitors want."""

    def __init__(self, settings: Settings, catalogue: DatabaseUrl, workers: Workers) -> None:
        """`workers` read what services send."""
        self._settings = preview_settings(settings)
        self._workers = workers
        self._catalogue = catalogue
        self._identity: object = None
        self._store: Store | None = None
        self._fetcher: Fetcher | None = None
        self._opening = asyncio.Lock()
        self._cache = _Cache()
        self._waiting = Counter[str]()
        """Host → previews that wait for it."""
        self._at_once = asyncio.Semaphore(MOST_AT_ONCE)

    async def relay(self, begin: Callable[[], Exchange], client: Client | None = None) -> Relay:
        """Return what comes of an exchange, which asks one host alone; `begin` returns it at its beginning, `client`
        wants it.

        It is made from cached answers, as far as they go, and where one is missing again in a turn of the host.

        Raises Problem: 502 when the service gives nothing that can be shown, 503 when it cannot be asked now, 504 when
        it takes too long."""
        try:
            relay = await self._run(begin(), self._cache.get)
        except _NotCached as missing:
            relay = await self._ask(missing.url.host, begin, client)
        if isinstance(relay, str):
            raise Problem(502, relay)
        return relay

    async def close(self) -> None:
        """Close all connections, and the catalogue."""
        fetcher, store, self._fetcher, self._store = self._fetcher, self._store, None, None
        if fetcher is not None:
            await fetcher.close()
        if store is not None:
            store.close()

    async def _opened(self) -> Fetcher:
        """Return the fetcher that leases hosts in the catalogue, which is opened again when another file took its
        place. Raises DatabaseFault."""
        async with self._opening:
            if self._fetcher is None or self._identity != identity_of(self._catalogue):
                await self.close()
                self._identity, clock = identity_of(self._catalogue), SystemClock()
                self._store = await asyncio.to_thread(Store.join, self._catalogue, clock=clock, busy_s=_BUSY_S)
                politeness = self._store.politeness(self._settings)
                self._fetcher = make_guest_fetcher(self._settings, politeness, clock, for_visitors=True)
            return self._fetcher

    async def _run(self, exchange: Exchange, answer_of: Callable[[Url], Awaitable[Page | Failure]]) -> Relay | str:
        """Make an exchange; failures are cached for a shorter time."""
        answer, urls = None, list[Url]()
        while isinstance(step := await self._workers.run(partial(_step, exchange, answer)), Ask):
            urls.append(step.url)
            answer = await answer_of(step.url)
        if isinstance(step, str):
            self._cache.shorten(urls, FAILED_S)
        return step

    async def _ask(self, host: str, begin: Callable[[], Exchange], client: Client | None) -> Relay | str:
        """Make an exchange in one turn of a host."""
        if self._waiting[host] >= MOST_WAITING_OF_HOST:
            raise _later("others wait for this service's host, too; try again")
        self._waiting[host] += 1
        try:
            async with asyncio.timeout(WAIT_S), self._at_once, (await self._opened()).turn(HostState(host)) as turn:
                if isinstance(turn, RefusedTurn) and turn.is_busy:
                    raise _later("the service's host cannot be asked now; try again")
                return await self._run(begin(), lambda url: self._answer(url, turn, client))
        except TimeoutError:
            raise Problem(504, Sentence("the service gave no picture within {n:.0f} s", n=WAIT_S)) from None
        except (GivenBack, OwnFault):
            raise _later("the service's host cannot be asked now; try again") from None
        except DatabaseFault:
            raise _later("the catalogue cannot be written now; try again") from None
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host]

    async def _answer(self, url: Url, turn: Turn, client: Client | None) -> Page | Failure:
        if url.host != turn.host.name:
            raise Problem(502, "what the service shows is on another host, which is not asked for previews")
        try:
            return await self._cache.get(url)  # somebody before us may have wanted the same
        except _NotCached:
            pass
        if client is not None:
            client.left -= COST - 1
        answer = await turn.fetch(url, purpose=Purpose.MAP)
        is_good = isinstance(answer, Page) and answer.status < 400
        self._cache.put(url, answer, KEEP_S if is_good else FAILED_S)
        return answer


def _later(problem: str) -> Problem:
    return Problem(503, problem, headers={"Retry-After": "5"})


def _step(exchange: Exchange, answer: Page | Failure | None) -> Ask | Relay | str:
    """Return the next request of an exchange, or what comes of it; `answer` is None at its beginning."""
    try:
        return next(exchange) if answer is None else exchange.send(answer)
    except StopIteration as end:
        result: Relay | str = end.value
        return result


class _NotCached(Exception):
    """Says which answer is missing."""

    def __init__(self, url: Url) -> None:
        super().__init__(url.address)
        self.url = url


@dataclass(frozen=True, slots=True)
class _Entry:
    answer: Page | Failure
    until: float


class _Cache:
    """Cache of services' answers, each for its own time."""

    def __init__(self) -> None:
        self._entries = SizedCache[_Entry](MAX_CACHE_BYTES)

    async def get(self, url: Url) -> Page | Failure:
        """Return the answer of an address. Raises _NotCached."""
        entry = self._entries.get(url.address)
        if entry is None or entry.until < time.monotonic():
            raise _NotCached(url)
        return entry.answer

    def put(self, url: Url, answer: Page | Failure, keep_s: float) -> None:
        """Keep an answer for a time."""
        size = len(answer.body) if isinstance(answer, Page) else 0
        self._entries.put(url.address, _Entry(answer, time.monotonic() + keep_s), size + _ENTRY_BYTES)

    def shorten(self, urls: list[Url], keep_s: float) -> None:
        """Keep answers for no longer than a time."""
        for url in urls:
            entry = self._entries.get(url.address)
            if entry is not None and entry.until > time.monotonic() + keep_s:
                self.put(url, entry.answer, keep_s)
