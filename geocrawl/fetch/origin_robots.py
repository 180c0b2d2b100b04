"""Find the rules of an origin: from memory or the store, else by asking for its robots.txt in the turn of its host.

Redirects of a robots.txt are followed five times, to other hosts too (RFC 9309, 2.3.1.2). Another host is borrowed for
the request (`paced_host`): its delay, back-off and daily limit apply, and what it answers changes its own state.
Its own robots.txt applies as well, except to itself: a target that it forbids is not requested, and like one that is
not there it contains no rules (2.3.1.3). A target that the operator's lists, an opt-out or the address guard exclude,
or whose own robots.txt is not available, counts as unread: nothing is allowed for a while (2.3.1.4).
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.errors import GivenBack
from geocrawl.fetch.answer_reader import Answer
from geocrawl.fetch.paced_host import THINKING_S, BorrowedHosts, PacedHost, Parts, robots_address
from geocrawl.fetch.robots import Rules, record_of
from geocrawl.model import Failure, FailureCode, Purpose, RobotsRecord, Url
from geocrawl.urls import read_url

_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_MOST_PAUSED = 1000
_FORBIDDEN = 403
"""Status that is recorded for a robots.txt at an address which the rules of its host forbid."""
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


class OriginRobots:
    """Finds rules; one for all turns of a fetcher."""

    def __init__(self, parts: Parts, others: BorrowedHosts) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._robots = parts.robots
        self._others = others
        self._paused: dict[str, list[Url]] = {}
        """Addresses that an origin's robots.txt led to when its visit was given back; the last one is still to be
        asked."""

    async def rules_for(self, url: Url, host: PacedHost) -> Rules | Failure:
        """Return the rules that apply to an address of the leased host; a Failure when they are not available now.

        Raises GivenBack when a redirect leads to a host that is not free soon.
        """
        known = await self._robots.get(url.origin, self._parts.clock.now())
        if known is None:
            found = await self._ask(url, host)
            if isinstance(found, Failure):
                return found
            known = await self._put(found, host)
        record, rules = known
        if rules is None:
            detail = f"robots.txt of {url.origin} is unreachable" + (f" ({record.status})" if record.status else "")
            wait = max(record.expires_at - self._parts.clock.now(), 1.0)
            return Failure(url, FailureCode.ROBOTS, detail, retry_after_s=wait, status=record.status)
        host.adopt_crawl_delay(rules.crawl_delay_s)
        return rules

    async def _ask(self, url: Url, host: PacedHost) -> RobotsRecord | Failure:
        """Fetch the robots.txt of an address's origin, redirects followed. Return a Failure when the origin cannot be
        reached."""
        asked = self._paused.pop(url.origin, None) or [_robots_of(url)]
        while True:
            try:
                answer = await self._request(asked[-1], host)
            except GivenBack:
                self._pause(url.origin, asked)
                raise
            if isinstance(answer, RobotsRecord):
                return replace(answer, origin=url.origin)
            if isinstance(answer, Failure) and answer.code in _NO_CONTACT and len(asked) == 1:
                return answer
            target = None if isinstance(answer, Failure) else answer.location
            if target is None or target in asked or len(asked) > _REDIRECTS:
                return self._record(url.origin, answer, host)
            asked.append(target)

    def _pause(self, origin: str, asked: list[Url]) -> None:
        """Remember how far an origin's redirects were followed, so that only the last address is asked for again."""
        if len(self._paused) >= _MOST_PAUSED:
            del self._paused[next(iter(self._paused))]
        self._paused[origin] = asked

    async def _request(self, target: Url, host: PacedHost) -> Answer | Failure | RobotsRecord:
        if target.host == host.name:
            return await host.request(target, Purpose.ROBOTS)
        return await self._ask_elsewhere(target, host)

    async def _ask_elsewhere(self, target: Url, borrower: PacedHost) -> Answer | Failure | RobotsRecord:
        """Request a redirect's target on another host, or return what is known of it."""
        if await self._parts.refusal_of(target):
            return Failure(target, FailureCode.ROBOTS, "robots.txt redirects to an address that may not be requested")
        is_robots = target.address == robots_address(target)
        known = await self._robots.get(target.origin, self._parts.clock.now())
        if is_robots and known is not None:
            return known[0]
        async with self._others.borrow(target.host, borrower) as host:
            if not is_robots:
                rules = known[1] if known is not None else await self._rules_of(target, host)
                if rules is None:
                    return Failure(target, FailureCode.ROBOTS, f"robots.txt of {target.origin} is unreachable")
                if not rules.allows(target.address):
                    return record_of(target.origin, _FORBIDDEN, b"", self._parts.clock.now(), self._settings)
            answer = await host.request(target, Purpose.ROBOTS)
            if isinstance(answer, Answer) and answer.location is None:
                record = self._record(target.origin, answer, host)
                if is_robots:
                    await self._keep(record, host)
                return record
            return answer

    async def _rules_of(self, target: Url, host: PacedHost) -> Rules | None:
        """Return the rules of a borrowed host; None when they are not available, or are on a third host."""
        answer = await host.request(_robots_of(target), Purpose.ROBOTS)
        for _ in range(_REDIRECTS):
            if isinstance(answer, Answer) and answer.location is not None and answer.location.host == host.name:
                answer = await host.request(answer.location, Purpose.ROBOTS)
        if isinstance(answer, Failure) or answer.location is not None:
            return None
        return await self._keep(self._record(target.origin, answer, host), host)

    async def _keep(self, record: RobotsRecord, host: PacedHost) -> Rules | None:
        """Store a borrowed host's answer for its own robots.txt; return its rules, None when there are none for now."""
        _, rules = await self._put(record, host)
        if rules is not None:
            host.adopt_crawl_delay(rules.crawl_delay_s)
        return rules

    async def _put(self, record: RobotsRecord, host: PacedHost) -> tuple[RobotsRecord, Rules | None]:
        """Store an answer under the lease of its host: a process that was suspended meanwhile knows less than the one
        that has leased the host since. Raises GivenBack then."""
        await host.keep_for(THINKING_S)
        return await self._robots.put(record)

    def _record(self, origin: str, answer: Answer | Failure, host: PacedHost) -> RobotsRecord:
        now = self._parts.clock.now()
        if isinstance(answer, Failure):
            return record_of(origin, None, b"", now, self._settings)
        wait = host.retry_after_s(answer)
        return record_of(origin, answer.status, answer.body, now, self._settings, retry_after_s=wait)


def _robots_of(url: Url) -> Url:
    robots = read_url(robots_address(url))
    assert robots is not None, "an origin's robots.txt has an address"
    return robots
