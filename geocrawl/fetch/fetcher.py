"""The port `Fetcher`: turns of leased hosts, in which every request keeps the delay and obeys robots.txt.

A request of a turn waits for the host's back-off and delay, and checks robots.txt, which is fetched first when it is
not known. After the exchange the host's state is updated at once. Redirects within the host are requests like any
other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from geocrawl.errors import GivenBack
from geocrawl.fetch.answer_reader import HttpAnswer
from geocrawl.fetch.guests import BorrowedHosts
from geocrawl.fetch.http import Cookies, HttpClient
from geocrawl.fetch.names import Resolver
from geocrawl.fetch.paced_host import UNLEASED, WHY_REFUSED, PacedHost, Parts, RetryAfterMemory
from geocrawl.fetch.politeness import read_retry_after
from geocrawl.fetch.proxy import EnvironmentProxies
from geocrawl.fetch.robots import OriginRobots, RobotsCache, product_token
from geocrawl.model import (
    Deviation,
    Failure,
    FailureCode,
    HostState,
    Page,
    Purpose,
    Url,
    Validators,
)
from geocrawl.ports import Clock, HeldHost, HostBusy, NetworkWait, Politeness
from geocrawl.settings import Settings
from geocrawl.urls import AddressRules

if TYPE_CHECKING:
    import httpx

    from geocrawl.fetch.record import WarcRecorder

_OF_SERVICES = (Purpose.PROBE, Purpose.MAP)
_ELSEWHERE_EXCHANGES = 4
"""Exchanges that one request for content on another host may take: robots.txt, the content, each of them twice."""
_CUT_SHORT = (Purpose.MAP, Purpose.DATA)
"""Purposes of requests besides a visit's first ones, which end with the host's requests of the day."""
_SHORT_WAIT_S = 10.0
"""Longest Retry-After for which a turn waits."""


class PoliteFetcher:
    """`ports.Fetcher` for the real web.

    It refuses hosts that opted out, and addresses that the operator's lists exclude.
    """

    def __init__(
        self,
        settings: Settings,
        politeness: Politeness,
        clock: Clock,
        *,
        user_agent: str,
        environment: EnvironmentProxies | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        resolver: Resolver | None = None,
        recorder: WarcRecorder | None = None,
        on_received: Callable[[int], object] | None = None,
        may_put_off: bool = False,
        rests: RetryAfterMemory | None = None,
        for_visitors: bool = False,
    ) -> None:
        """Raise UsageError for a proxy that cannot be used, EnvironmentFault for certificates that cannot be read.

        `environment`: proxies of the environment (`proxy.proxy_from_environment`), used where the settings name none.
        `transport` and `resolver` replace the network and its names; `recorder` records every answer. `on_received`: as
        in `HttpClient`. `may_put_off`: a turn at an IP address that is busy with other hosts ends with GivenBack; else
        it waits. `rests`: what former fetchers of this process know of hosts' Retry-After
        (`Parts.rests`). `for_visitors`: content of other hosts is not requested, and no robots.txt is stored as
        unreachable.
        """
        proxies = environment or EnvironmentProxies()
        http = HttpClient(
            settings,
            clock,
            proxies,
            politeness,
            user_agent=user_agent,
            transport=transport,
            resolver=resolver,
            recorder=recorder,
            on_received=on_received,
        )
        cache = RobotsCache(politeness, product_token(user_agent), settings, keeps_failures=not for_visitors)
        rules = AddressRules(settings.allow, settings.deny)
        self._parts = Parts(settings, clock, http, politeness, rests or RetryAfterMemory(), rules)
        others = BorrowedHosts(self._parts)
        self._others = None if for_visitors else others
        self._origin_robots = OriginRobots(self._parts, others, cache)
        self._may_put_off = may_put_off

    @asynccontextmanager
    async def turn(
        self, host: HostState, held: HeldHost = UNLEASED, waiting: NetworkWait = nullcontext
    ) -> AsyncIterator[PoliteTurn]:
        """Yield the turn of a leased host; because of the lease, no other worker sends requests to the host
        meanwhile."""
        paced = PacedHost(self._parts, host, held, waiting, may_be_put_off=self._may_put_off)
        yield PoliteTurn(self._parts, self._origin_robots, paced, self._others)

    async def close(self) -> None:
        """Close all connections."""
        await self._parts.http.close()


class PoliteTurn:
    """`ports.Turn`: one host's requests, one after the other."""

    def __init__(
        self, parts: Parts, origin_robots: OriginRobots, host: PacedHost, others: BorrowedHosts | None = None
    ) -> None:
        """`others`: lends the hosts that documents name for content; None: such content is not requested."""
        self._parts = parts
        self._others = others
        self._settings = parts.settings
        self._clock = parts.clock
        self._refusal_of = parts.refusal_of
        self._origin_robots = origin_robots
        self._host = host
        self._final_answer: HttpAnswer | Failure | None = None
        self._has_waited = False
        self._not_free: dict[str, Failure] = {}
        """Hosts that could not be borrowed, with what was told; forgotten with the turn."""

    @property
    def host(self) -> HostState:
        """Return the host's state after the requests so far."""
        return self._host.state

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
        body: bytes | None = None,
    ) -> Page | Failure:
        """Request `url` on the leased host and return the answer; raise ValueError for another host's address, and
        GivenBack when the visit cannot go on now (`ports.Turn`).

        A redirect within the host is followed while `follow(target)` is true (None: always), at most `max_redirects`
        times; cookies last for these redirects, and `elapsed_ms` is that of the last request. A redirect to another
        host is never followed: the Page then has `location` and an empty body. An answer that starts a back-off, and
        429 or 503 of one address, is returned for the rest of the turn; a service's first short Retry-After is waited
        for, once a turn. `validators` are sent only with a request for their own address. With a
        `body`, an XML document, requests are made by POST.
        """
        if url.host != self._host.name and purpose is Purpose.MAP and self._others is not None:
            return await self._fetch_elsewhere(url, self._others)
        trail = _Trail(url)
        while True:
            answer = self._final_answer or await self._allowed(trail.at, purpose, trail.cookies, validators, body)
            if self._is_worth_waiting(answer, purpose):
                answer = await self._asked_after_waiting(answer, trail, purpose, validators, body)
            if self._host.in_backoff or _is_busy(answer):
                self._final_answer = answer
            if isinstance(answer, Failure):
                return replace(answer, url=url)
            following = answer.location
            if following is not None and following.host != url.host and purpose is Purpose.MAP and self._others:
                return replace(await self._fetch_elsewhere(following, self._others), url=url)
            if following is None or following.host != url.host or (follow is not None and not follow(following)):
                return self._page(url, answer, trail.hops)
            if not trail.go_on(answer, following, self._settings.max_redirects):
                detail = f"{len(trail.hops)} redirects followed, the next one leads to {following.address}"
                return Failure(url, FailureCode.REDIRECT_LOOP, detail, answer.elapsed_ms, status=answer.status)

    async def _fetch_elsewhere(self, url: Url, others: BorrowedHosts) -> Page | Failure:
        """Request content of another host in a turn of that host; return a Failure when it is not free soon.

        The failure of a host is told once more instead of asking for the host again.
        """
        if url.host in self._not_free:
            return replace(self._not_free[url.host], url=url)
        if await self._refusal_of(url):
            return Failure(url, FailureCode.RESTING, f"{url.host} may not be asked")
        await self._host.keep_for(_ELSEWHERE_EXCHANGES * self._settings.total_timeout_s)
        answer = await self._lent(url, Purpose.MAP, others)
        if isinstance(answer, Failure):
            self._not_free[url.host] = answer
        return answer

    async def fetch_elsewhere(self, url: Url, *, purpose: Purpose) -> Page | Failure:
        """Request an address of another host in a turn of that host; a redirect to a third host is not followed.

        Returns a Failure (resting) when the host is not free soon.
        """
        if self._others is None:
            return Failure(url, FailureCode.RESTING, "a borrowed host borrows no other")
        await self._host.keep_for(_ELSEWHERE_EXCHANGES * self._settings.total_timeout_s)
        return await self._lent(url, purpose, self._others)

    async def _lent(self, url: Url, purpose: Purpose, others: BorrowedHosts) -> Page | Failure:
        try:
            async with others.lend(url.host, self._host.waiting, is_patient=True) as host:
                if isinstance(host, HostBusy):
                    return Failure(url, FailureCode.RESTING, f"{url.host} is not free")
                return await PoliteTurn(self._parts, self._origin_robots, host).fetch(url, purpose=purpose)
        except GivenBack as given_back:
            return Failure(url, FailureCode.RESTING, str(given_back))

    async def sitemaps(self, url: Url) -> tuple[Url, ...]:
        """Return the sitemaps that a known robots.txt of the address's origin names; () when it is not known."""
        return () if self._settings.ignore_robots else await self._origin_robots.sitemaps(url)

    def _is_worth_waiting(self, answer: HttpAnswer | Failure, purpose: Purpose) -> TypeGuard[HttpAnswer]:
        """Return whether a busy service asks for a few seconds, for the first time in this turn."""
        if not _is_busy(answer) or purpose not in _OF_SERVICES or self._has_waited or self._host.in_backoff:
            return False
        wait_s = self._host.retry_after_s(answer)
        return wait_s is not None and wait_s <= _SHORT_WAIT_S

    async def _asked_after_waiting(
        self, busy: HttpAnswer, trail: _Trail, purpose: Purpose, validators: Validators | None, body: bytes | None
    ) -> HttpAnswer | Failure:
        self._has_waited = True
        wait_s = self._host.retry_after_s(busy) or 0.0
        self._host.rest_until(self._clock.now() + wait_s)
        answer = await self._allowed(trail.at, purpose, trail.cookies, validators, body)
        if isinstance(answer, Failure) or answer.status == busy.status:
            return answer
        return replace(answer, deviations=(*answer.deviations, Deviation("busy-first", f"Retry-After: {wait_s:g} s")))

    def _page(self, url: Url, answer: HttpAnswer, hops: Sequence[Url]) -> Page:
        return Page(
            url=url,
            final=answer.url,
            status=answer.status,
            headers=answer.headers,
            body=answer.body,
            elapsed_ms=answer.elapsed_ms,
            fetched_at=self._clock.now(),
            hops=tuple(hops),
            location=answer.location,
            sent_bytes=answer.sent_bytes,
            cut=answer.cut,
            not_modified=answer.not_modified,
            retry_after_s=read_retry_after(answer.headers, self._clock.now(), self._settings),
            deviations=answer.deviations,
        )

    async def _allowed(
        self, url: Url, purpose: Purpose, cookies: Cookies | None, validators: Validators | None, body: bytes | None
    ) -> HttpAnswer | Failure:
        """Make one exchange, if the operator's lists, the host's daily limit and robots.txt allow it."""
        if refusal := await self._refusal_of(url):
            return Failure(url, FailureCode(refusal), WHY_REFUSED[refusal])
        if purpose in _CUT_SHORT and self._host.is_day_limit_reached:
            return Failure(url, FailureCode.BUDGET, "this host's daily limit of requests is reached")
        self._host.asks_service = purpose in _OF_SERVICES
        self._host.robots_for = url
        if not self._settings.ignore_robots:
            rules = await self._origin_robots.rules_for(url, self._host)
            if isinstance(rules, Failure):
                return rules
            if not rules.allows(url.address):
                return Failure(url, FailureCode.ROBOTS, f"robots.txt of {url.origin} forbids it")
        return await self._host.request(url, purpose, cookies, validators, body)


def _is_busy(answer: HttpAnswer | Failure) -> bool:
    """Return whether a server is busy (429, 503): the turn then stops requesting the address, whatever its
    parameters."""
    return isinstance(answer, HttpAnswer) and answer.status in (429, 503)


class _Trail:
    """The redirects of one fetch: the current address, those before it, and cookies set on the way."""

    def __init__(self, start: Url) -> None:
        self.at = start
        self.hops: list[Url] = []
        self.cookies: Cookies | None = None
        self._passed: set[tuple[str, tuple[str, ...]]] = {(start.address, ())}

    def go_on(self, answer: HttpAnswer, target: Url, limit: int) -> bool:
        """Move to a redirect's target and return True; False for a cycle, or when the limit is reached.

        Coming back with another cookie is no cycle: sites test so whether cookies are kept.
        """
        if answer.set_cookies:
            self.cookies = self.cookies or Cookies()
            self.cookies.take(answer.url.address, answer.set_cookies)
        cookies = self.cookies.names_and_values() if self.cookies is not None else ()
        if len(self.hops) >= limit or (target.address, cookies) in self._passed:
            return False
        self._passed.add((target.address, cookies))
        self.hops.append(target)
        self.at = target
        return True
