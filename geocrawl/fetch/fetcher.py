"""The port `Fetcher`: turns of leased hosts, in which every request keeps the delay and obeys robots.txt.

A request of a turn waits for the host's back-off and delay, and checks robots.txt, which is fetched first when it is
not known. After the exchange the host's state is updated at once. Redirects within the host are requests like any
other.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx

from geocrawl.fetch.http import Answer, HttpClient, KeptConnectionLost
from geocrawl.fetch.politeness import (
    Asked,
    after_cut_off,
    after_exchange,
    count_request,
    delay_s,
    is_day_limit_reached,
    read_retry_after,
    starts_backoff,
    wait_for_next_day,
)
from geocrawl.fetch.proxy import EnvironmentProxies
from geocrawl.fetch.record import WarcRecorder
from geocrawl.fetch.robots import RobotsCache, Rules, product_token, record_of
from geocrawl.fetch.transport import Transport
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose, RobotsRecord, Url, Validators
from geocrawl.ports import Clock, RobotsStore
from geocrawl.settings import Settings
from geocrawl.urls import read_url

_ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2
# The server was not reached: a page of this origin would fare the same, so the failure itself is reported.
_NO_CONTACT = frozenset(
    {
        FailureCode.DNS,
        FailureCode.REFUSED,
        FailureCode.TLS,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.GUARD,
        FailureCode.PROXY,
    }
)
_WHY_REFUSED = {
    "deny": "the deny list names it",
    "allow": "the allow list does not name it",
    "forgotten": "its host opted out (`geocrawl forget --list`)",
}

RefusalOf = Callable[[Url], Awaitable[str]]
"""Returns why an address may not be requested: 'deny', 'allow', 'forgotten', '' if it may."""


async def nothing_refused(url: Url) -> str:
    """Return '': every address may be requested."""
    return ""


class PoliteFetcher:
    """`ports.Fetcher` for the real web."""

    def __init__(
        self,
        settings: Settings,
        robots: RobotsStore,
        clock: Clock,
        *,
        user_agent: str,
        environment: EnvironmentProxies | None = None,
        transport: Transport | None = None,
        recorder: WarcRecorder | None = None,
        refusal_of: RefusalOf = nothing_refused,
        on_received: Callable[[int], object] = lambda received_bytes: None,
    ) -> None:
        """Raise UsageError for a proxy that cannot be used.

        `environment`: proxies of the environment (`proxy.proxy_from_environment`), used where the settings name none.
        `transport` replaces the network; `recorder` records every answer. `refusal_of`: awaited before every request,
        returns why an address may not be requested ('deny', 'allow', 'forgotten'), '' if it may. `on_received`: as in
        `HttpClient`.
        """
        proxies = environment or EnvironmentProxies()
        http = HttpClient(
            settings,
            clock,
            proxies,
            user_agent=user_agent,
            transport=transport,
            recorder=recorder,
            on_received=on_received,
        )
        self._parts = _Parts(settings, clock, http, RobotsCache(robots, product_token(user_agent)), refusal_of)

    @asynccontextmanager
    async def turn(self, host: HostState) -> AsyncIterator[PoliteTurn]:
        """Return the turn of a leased host; the lease keeps all others from requesting anything of it meanwhile."""
        yield PoliteTurn(self._parts, host)

    async def close(self) -> None:
        """Close all connections."""
        await self._parts.http.close()


@dataclass(frozen=True, slots=True)
class _Parts:
    settings: Settings
    clock: Clock
    http: HttpClient
    robots: RobotsCache
    refusal_of: RefusalOf


class PoliteTurn:
    """`ports.Turn`: one host's requests, one after the other."""

    def __init__(self, parts: _Parts, host: HostState) -> None:
        self._settings = parts.settings
        self._clock = parts.clock
        self._http = parts.http
        self._robots = parts.robots
        self._refusal_of = parts.refusal_of
        self._host = host
        self._in_backoff = False
        self._service = ""
        self._final_answer: Answer | Failure | None = None

    @property
    def host(self) -> HostState:
        """Return the host's state after the requests so far."""
        return wait_for_next_day(self._host, self._clock.now(), self._settings)

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
    ) -> Page | Failure:
        """Request `url` on the leased host and return the answer; raise ValueError for another host's address.

        A redirect within the host is followed while `follow(target)` is true (None: always), at most `max_redirects`
        times; cookies last for these redirects, and `elapsed_ms` is the last one's. A redirect to another host is never
        followed: the Page then has `location` and an empty body. An answer that starts a back-off, and 503 of one
        address, is returned for the rest of the turn. `validators` are sent with the one request, if any, for their own
        address.
        """
        if url.host != self._host.name:
            raise ValueError(f"{url.address} was asked in the turn of {self._host.name}")
        trail = _Trail(url)
        while True:
            answer = self._final_answer or await self._allowed(trail.at, purpose, trail.cookies, validators)
            if self._in_backoff or _is_busy(answer):
                self._final_answer = answer
            if isinstance(answer, Failure):
                return replace(answer, url=url)
            following = answer.location
            if following is None or following.host != url.host or (follow is not None and not follow(following)):
                return self._page(url, answer, trail.hops)
            if not trail.go_on(answer, following, self._settings.max_redirects):
                detail = f"{len(trail.hops)} redirects followed, the next one leads to {following.address}"
                return Failure(url, FailureCode.REDIRECT_LOOP, detail, answer.elapsed_ms, status=answer.status)

    async def sitemaps(self, url: Url) -> tuple[Url, ...]:
        """Return the sitemaps that a known robots.txt of the address's origin names; () when it is not known."""
        known = None if self._settings.ignore_robots else await self._robots.get(url.origin, self._clock.now())
        rules = known[1] if known else None
        named = (read_url(text, url) for text in rules.sitemaps) if rules else ()
        return tuple(sitemap for sitemap in named if sitemap is not None)

    def _page(self, url: Url, answer: Answer, hops: Sequence[Url]) -> Page:
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
            retry_after_s=self._retry_after_s(answer, self._clock.now()),
        )

    async def _allowed(
        self, url: Url, purpose: Purpose, cookies: httpx.Cookies | None, validators: Validators | None
    ) -> Answer | Failure:
        """Make one exchange, if the operator's lists, the host's daily limit and robots.txt allow it."""
        if refusal := await self._refusal_of(url):
            return Failure(url, FailureCode(refusal), _WHY_REFUSED[refusal])
        if purpose is Purpose.MAP and is_day_limit_reached(self._host, self._clock.now(), self._settings):
            return Failure(url, FailureCode.BUDGET, "this host's requests of today are spent")
        if not self._settings.ignore_robots:
            rules = await self._rules(url)
            if isinstance(rules, Failure):
                return rules
            if not rules.allows(url.address):
                return Failure(url, FailureCode.ROBOTS, f"robots.txt of {url.origin} forbids it")
        return await self._paced(url, purpose, cookies, validators)

    async def _paced(
        self,
        url: Url,
        purpose: Purpose,
        cookies: httpx.Cookies | None = None,
        validators: Validators | None = None,
    ) -> Answer | Failure:
        """Wait until it is time, make one exchange, and update the host's state.

        A request whose kept connection the server ended is made once more, on a new one, like any other request: after
        the delay, and counted.
        """
        answer = await self._exchange(url, purpose, cookies, validators)
        if isinstance(answer, KeptConnectionLost):
            answer = await self._exchange(url, purpose, cookies, validators)
        return answer

    async def _exchange(
        self, url: Url, purpose: Purpose, cookies: httpx.Cookies | None, validators: Validators | None
    ) -> Answer | Failure:
        wait = self._host.next_at - self._clock.now()
        if wait > 0:
            await self._clock.sleep(wait)
        try:
            answer = await self._http.get(url, purpose, cookies, validators)
        except BaseException:  # whatever ended the exchange, the host was asked
            self._host = after_cut_off(self._host, self._clock.now(), self._settings)
            raise
        if isinstance(answer, Failure) and answer.code is FailureCode.GUARD:
            return answer  # nothing was sent
        now = self._clock.now()
        if url.host != self._host.name:  # robots.txt was redirected to another host
            self._host = replace(self._host, next_at=now + delay_s(self._host, self._settings))
            return answer
        self._host = count_request(self._host, now)
        if isinstance(answer, KeptConnectionLost):  # servers close what is idle: no trouble unless it comes again
            self._host = replace(self._host, next_at=now + delay_s(self._host, self._settings))
            return answer
        outcome = answer.code if isinstance(answer, Failure) else answer.status
        before, asked = self._host, self._asked(url, purpose, now)
        self._host = after_exchange(
            before, outcome, now, self._settings, retry_after_s=self._retry_after_s(answer, now), asked=asked
        )
        if starts_backoff(before, self._host, outcome, self._settings, asked):
            self._in_backoff = True
            if isinstance(answer, Failure):
                answer = replace(answer, retry_after_s=self._host.next_at - now)
        return answer

    def _asked(self, url: Url, purpose: Purpose, at: float) -> Asked:
        """Return what an exchange was about; all requests to a service are about the first one's address."""
        if purpose in (Purpose.PROBE, Purpose.MAP):
            self._service = self._service or url.address
            return Asked(self._service, at)
        return Asked(url.address, at, is_robots=purpose is Purpose.ROBOTS)

    def _retry_after_s(self, answer: Answer | Failure, now: float) -> float | None:
        if isinstance(answer, Failure) or answer.status not in (429, 503):
            return None
        return read_retry_after(answer.headers.get("retry-after", ""), now, self._settings)

    # ----------------------------------------------------------------------- robots.txt

    async def _rules(self, url: Url) -> Rules | Failure:
        """Return the rules of an address's origin, fetched if they are unknown; a Failure when they cannot be had."""
        known = await self._robots.get(url.origin, self._clock.now())
        if known is None:
            answer = await self._ask_robots(url)
            if isinstance(answer, Failure) and answer.code in _NO_CONTACT:
                return answer
            known = await self._robots.put(self._record(url.origin, answer))
        record, rules = known
        if rules is None:
            detail = f"robots.txt of {url.origin} is unreachable" + (f" ({record.status})" if record.status else "")
            wait = max(record.expires_at - self._clock.now(), 1.0)
            return Failure(url, FailureCode.ROBOTS, detail, retry_after_s=wait, status=record.status)
        if rules.crawl_delay_s != self._host.crawl_delay_s:
            self._adopt_crawl_delay(rules.crawl_delay_s)
        return rules

    def _adopt_crawl_delay(self, crawl_delay_s: float | None) -> None:
        """Use this Crawl-delay from now on, also for the wait that has begun."""
        before = delay_s(self._host, self._settings)
        self._host = replace(self._host, crawl_delay_s=crawl_delay_s)
        grown = delay_s(self._host, self._settings) - before
        if grown > 0 and self._host.next_at:
            self._host = replace(self._host, next_at=self._host.next_at + grown)

    def _record(self, origin: str, answer: Answer | Failure) -> RobotsRecord:
        now = self._clock.now()
        if isinstance(answer, Failure):
            return record_of(origin, None, b"", now, self._settings)
        wait = self._retry_after_s(answer, now)
        return record_of(origin, answer.status, answer.body, now, self._settings, retry_after_s=wait)

    async def _ask_robots(self, url: Url) -> Answer | Failure:
        """Fetch /robots.txt of an origin; redirects are followed to other hosts too (RFC 9309, 2.3.1.2)."""
        target = read_url(f"{url.origin}/robots.txt")
        assert target is not None, "an origin's robots.txt has an address"
        answer = await self._paced(target, Purpose.ROBOTS)
        for _ in range(_ROBOTS_REDIRECTS):
            if isinstance(answer, Failure) or answer.location is None:
                break
            elsewhere = answer.location
            if elsewhere.host != url.host and await self._refusal_of(elsewhere):
                return Failure(
                    elsewhere, FailureCode.ROBOTS, "robots.txt redirects to an address that may not be asked"
                )
            answer = await self._paced(elsewhere, Purpose.ROBOTS)
            if isinstance(answer, Failure):  # the host was reached, and redirected us to where nothing answers
                answer = replace(answer, code=FailureCode.ROBOTS)
        return answer


def _is_busy(answer: Answer | Failure) -> bool:
    """Whether an address asks to be left alone for a while: the turn asks nothing else of it, under no parameters."""
    return isinstance(answer, Answer) and answer.status == 503


class _Trail:
    """The redirects of one fetch: the current address, those before it, and cookies set on the way."""

    def __init__(self, start: Url) -> None:
        self.at = start
        self.hops: list[Url] = []
        self.cookies: httpx.Cookies | None = None
        self._passed = {(start.address, "")}

    def go_on(self, answer: Answer, target: Url, limit: int) -> bool:
        """Move to a redirect's target and return True; False for a cycle, or when the limit is reached.

        Coming back with another cookie is no cycle: sites test so whether cookies are kept.
        """
        if self.cookies is None:
            self.cookies = httpx.Cookies()
        self.cookies.extract_cookies(answer.response)
        cookies = ";".join(sorted(f"{cookie.name}={cookie.value}" for cookie in self.cookies.jar))
        if len(self.hops) >= limit or (target.address, cookies) in self._passed:
            return False
        self._passed.add((target.address, cookies))
        self.hops.append(target)
        self.at = target
        return True
