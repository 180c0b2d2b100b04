"""Read robots.txt under RFC 9309: what an origin's answer means, its rules by protego, and how they are found.

2xx                              its text, up to 500 KiB; what is no text contains no rules
4xx, redirects without target    no rules, everything is allowed (2.3.1.3)
429                              not now, though the RFC counts it as 4xx: the host asks us to slow down
5xx, no answer                   not now: nothing is allowed for a while (2.3.1.4), until this has been so for 30
                                 days; from then on no rules, and everything is allowed

Where rules are known, an answer that is no robots.txt does not lift them at once: they hold for `robots_ttl` from the
first such answer on, and robots.txt is asked for again meanwhile, after `robots_error_ttl` at the latest unless
Retry-After is longer. The RFC would let a 4xx lift them (2.3.1.3) and a 5xx forbid everything (2.3.1.4); a login page,
a filter or an overload of an hour should do neither. Where it is known that there are no rules, a robots.txt that is
out of reach changes nothing (2.4 allows that, and after 30 days 2.3.1.4 says the same): a server that answers 500 to
everything is asked, so that its services are known to be down. docs/safety.md has the whole table.

Rules come from memory or the store, else by asking for robots.txt in the turn of its host. Redirects are followed five
times, to other hosts too (2.3.1.2). Another host is borrowed for the request (`guests`): its delay, back-off and
daily limit apply, and what it answers changes its own state. Its own robots.txt applies as well, except to itself: a
target that it forbids is not requested, and like one that is not there it contains no rules. A target that the
operator's lists, an opt-out or the address guard exclude, or whose own robots.txt is not available, counts as unread:
nothing is allowed for a while.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace

from protego import Protego

from geocrawl.errors import GivenBack
from geocrawl.fetch.answer_reader import ROBOTS_BODY_BYTES, HttpAnswer
from geocrawl.fetch.guests import BorrowedHosts
from geocrawl.fetch.paced_host import THINKING_S, PacedHost, Parts, robots_address
from geocrawl.model import Failure, FailureCode, Purpose, RobotsRecord, Url
from geocrawl.ports import Politeness
from geocrawl.settings import Settings
from geocrawl.urls import read_url

_AGENT_LINE = re.compile(
    r"^([^\S\n]*user(?:-|[^\S\n]*)agent[^\S\n]*(?::|[^\S\n]))([^\n#]*)", re.IGNORECASE | re.MULTILINE
)
# No other record may end a group (RFC 9309, 2.2.4), but a Crawl-delay is that of the names above it, whatever follows.
# Fields and their misspellings are those that protego reads.
_RULE_FIELDS = r"user(?:-|\s*)agent|allow|d(?:iss?all?|iasll)[oa]w"
_RULES = re.compile(rf"\s*(?:{_RULE_FIELDS})(?:[\s:]|$)", re.IGNORECASE)
_DELAYS = re.compile(rf"\s*(?:{_RULE_FIELDS}|crawl[- ]delay)(?:[\s:]|$)", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309, 2.2.1
_OTHER_CRAWLERS = "!"  # no product token contains this character
_MARKUP = re.compile(r"\s*<")
_NOT_BLANK = re.compile(r"^[^\S\n]*[^#\s]", re.MULTILINE)
_RECORD = re.compile(rf"^[^\S\n]*(?:{_RULE_FIELDS}|crawl[- ]delay|site-?map)[\s:]", re.IGNORECASE | re.MULTILINE)
_NO_TEXT = 404
"""Status that is recorded for a page, or anything else, in the place of a robots.txt: the same as for none."""
_SITEMAP_LINE = re.compile(
    r"^[^\S\n]*site-?map[^\S\n]*(?::|(?=[^\S\n]https?://))[^\S\n]*(\S{1,2000})", re.IGNORECASE | re.MULTILINE
)
MAX_SITEMAPS = 20
"""Sitemap lines of one robots.txt that are followed: a site with more names an index of sitemaps."""
UNREACHABLE_S = 30 * 86_400.0
"""A robots.txt that could not be read for so long counts as one that is not there: RFC 9309, 2.3.1.4. Rules that
expired longer ago are not known any more, and the store drops them."""
_LOOKED_WITHIN_S = 14 * 86_400.0
"""The longest time between two looks that belong to one time of being unreachable: nobody knows what was in a
longer one, and a clock that was ten years behind for a moment leaves such a time."""
_CACHE_CHARS = 16 * 1024 * 1024
_CACHE_ORIGINS = 4096


class RobotsRules:
    """What one origin allows us."""

    def __init__(self, text: str, token: str) -> None:
        """Parse `text`, a robots.txt, for the crawler with this product token (lower case)."""
        self._token = token
        self._rules = Protego.parse(_only_ours(text, token, _RULES)) if text.strip() else None
        self.sitemaps = sitemaps_of(text)
        self.crawl_delay_s: float | None = None
        if "delay" in text.lower():
            self.crawl_delay_s = Protego.parse(_only_ours(text, token, _DELAYS)).crawl_delay(token)

    def allows(self, address: str) -> bool:
        """Return whether this address may be requested."""
        return self._rules is None or bool(self._rules.can_fetch(address, self._token))


class RobotsCache:
    """Records from the store with their rules parsed; the latest ones are kept, bounded by the length of their text.

    A record that is kept costs no wait for the store.
    """

    def __init__(self, store: Politeness, token: str, settings: Settings, *, keeps_failures: bool = True) -> None:
        """`keeps_failures`: whether to store that a robots.txt is unreachable."""
        self._keeps_failures = keeps_failures
        self._settings = settings
        self._store = store
        self._token = token
        self._parsed: OrderedDict[str, tuple[RobotsRecord, RobotsRules | None]] = OrderedDict()
        self._chars = 0

    async def get(self, origin: str, now: float) -> tuple[RobotsRecord, RobotsRules | None] | None:
        """Return the origin's record with its rules (None: not now); None when it must be fetched.

        `now`: the time at which the record must still be valid.
        """
        cached = self._parsed.get(origin)
        if cached is not None:
            if cached[0].expires_at > now:
                self._parsed.move_to_end(origin)
                return cached
            self._forget(origin)
        record = await self._store.read_robots(origin)
        return self._remember(record) if record is not None and record.expires_at > now else None

    async def put(self, record: RobotsRecord) -> tuple[RobotsRecord, RobotsRules | None]:
        """Keep a new record, here and in the store, and return it with its rules."""
        is_failure = record.body is None
        if not has_text(record):
            record = following(await self._store.read_robots(record.origin), record, self._settings)
        if self._keeps_failures or not is_failure:
            await self._store.write_robots(record)
        return self._remember(record)

    def _remember(self, record: RobotsRecord) -> tuple[RobotsRecord, RobotsRules | None]:
        self._forget(record.origin)
        if record.body is None:  # the store is asked again: what an outage of ours wrote is deleted there
            return record, None
        rules = RobotsRules(record.body, self._token)
        self._parsed[record.origin] = record, rules
        self._chars += len(record.body)
        while len(self._parsed) > 1 and (self._chars > _CACHE_CHARS or len(self._parsed) > _CACHE_ORIGINS):
            self._forget(next(iter(self._parsed)))
        return record, rules

    def _forget(self, origin: str) -> None:
        if (cached := self._parsed.pop(origin, None)) is not None:
            self._chars -= len(cached[0].body or "")


def product_token(user_agent: str) -> str:
    """Return our name in robots.txt (RFC 9309, 2.2.1): the User-Agent's first token, in lower case."""
    match = _TOKEN.match(user_agent.strip())
    return match[0].lower() if match else "geocrawl"


def has_text(record: RobotsRecord) -> bool:
    """Return whether a robots.txt was read, be it an empty one."""
    return bool(record.status is not None and 200 <= record.status < 300)


def is_unread(status: int | None) -> bool:
    """Return whether an answer with this status to /robots.txt, None for no answer, leaves open what is allowed."""
    return is_unreachable(status) or status == 429


def is_unreachable(status: int | None) -> bool:
    """Return whether the status of an answer to /robots.txt, None for no answer, means that it is unreachable."""
    return status is None or status >= 500


def record_of(
    origin: str, status: int | None, body: bytes, now: float, settings: Settings, *, retry_after_s: float | None = None
) -> RobotsRecord:
    """Return the record of an answer to /robots.txt (RFC 9309, 2.3.1). `status` None: there was no answer."""
    text: str | None = ""
    if status is None or is_unread(status):
        text = None
    elif 200 <= status < 300:
        text = read_text(body)
        if not is_robots_txt(body, text) or (status != 200 and not body.strip()):  # 202 of a filter, 204
            status, text = _NO_TEXT, ""
    ttl = settings.robots_ttl_s if text is not None else settings.robots_error_ttl_s
    if text is None and retry_after_s is not None:
        ttl = max(retry_after_s, settings.backoff_first_s)
    return RobotsRecord(origin, status, text, now, now + ttl)


def following(former: RobotsRecord | None, now: RobotsRecord, settings: Settings) -> RobotsRecord:
    """Return the record of an answer that is no robots.txt as it follows a former one.

    Known rules stay, at most `robots_ttl` from the first such answer on (`fetched_at`); that there are no rules stays
    known while nothing can be read. A robots.txt that is still unreachable has been so since the first of these
    answers, and for too long counts as one without rules.
    """
    if former is None or now.body:
        return now
    is_known = former.body or (former.body is not None and now.body is None)
    if is_known and now.fetched_at - former.expires_at <= UNREACHABLE_S:
        is_first = has_text(former) or not (former.body or is_unread(former.status))
        since = now.fetched_at if is_first else former.fetched_at
        if now.fetched_at - since < (settings.robots_ttl_s if former.body else UNREACHABLE_S):
            again_at = now.expires_at
            if now.body is not None:
                again_at = min(again_at, now.fetched_at + settings.robots_error_ttl_s)
            return replace(now, body=former.body, fetched_at=since, expires_at=again_at)
    if not (is_unreachable(former.status) and is_unreachable(now.status)):
        return now
    if now.fetched_at - former.expires_at > _LOOKED_WITHIN_S:
        return now
    is_given_up = now.fetched_at - former.fetched_at >= UNREACHABLE_S
    return replace(now, fetched_at=former.fetched_at, body="" if is_given_up else now.body)


def is_robots_txt(body: bytes, text: str) -> bool:
    """Return whether an answer is a robots.txt: it has a record or only comments, or is empty. `text`: what
    `read_text` made of the body."""
    return not body.strip() or bool(text and (_RECORD.search(text) or not _NOT_BLANK.search(text)))


def read_text(body: bytes, limit: int = ROBOTS_BODY_BYTES) -> str:
    """Return the text of a robots.txt without a line that the limit cut; '' for a page, XML or binary in its place."""
    text = body[:limit].decode("utf-8-sig", "replace")
    if "\0" in text or _MARKUP.match(text):
        return ""
    if len(body) >= limit:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def sitemaps_of(text: str) -> tuple[str, ...]:
    """Return the addresses of a robots.txt's Sitemap lines, each once, in order, at most `MAX_SITEMAPS`.

    Sitemaps apply to every crawler (sitemaps.org, "Specifying the Sitemap location").
    """
    lines = _SITEMAP_LINE.findall("\n".join(text.splitlines()))
    return tuple(dict.fromkeys(lines))[:MAX_SITEMAPS]


def _only_ours(text: str, token: str, records: re.Pattern[str]) -> str:
    """Return the lines that are such records, with all crawlers but us and `*` renamed to one that does not exist.

    Names match whole product tokens in any case (RFC 9309, 2.2.1), and thousands of groups cost nothing.
    """

    def rename(line: re.Match[str]) -> str:
        value = line[2].strip()
        if value != "*":
            match = _TOKEN.match(value)
            value = token if match and match[0].lower() == token else _OTHER_CRAWLERS
        return line[1] + value

    return _AGENT_LINE.sub(rename, "\n".join(line for line in text.splitlines() if records.match(line)))


_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_MOST_PAUSED = 1000
_FORBIDDEN = 403
"""Status that is recorded for a robots.txt at an address which the rules of its host forbid."""
_UNREAD_ELSEWHERE = 502
"""Status that is recorded for a robots.txt whose origin answers with a redirect to where it cannot be read."""
# The server was not reached: a page of this origin would fare the same, so the failure itself is reported.
_NO_CONTACT = frozenset(
    {
        FailureCode.DENY,
        FailureCode.ALLOW,
        FailureCode.FORGOTTEN,
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

    def __init__(self, parts: Parts, others: BorrowedHosts, robots: RobotsCache) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._robots = robots
        self._others = others
        self._paused: dict[str, list[Url]] = {}
        """Addresses that an origin's robots.txt led to when its visit was given back; the last one is still to be
        asked."""

    async def sitemaps(self, url: Url) -> tuple[Url, ...]:
        """Return the sitemaps that a known robots.txt of the address's origin names; () when it is not known."""
        known = await self._robots.get(url.origin, self._parts.clock.now())
        rules = known[1] if known else None
        named = (read_url(text, url) for text in rules.sitemaps) if rules else ()
        return tuple(sitemap for sitemap in named if sitemap is not None)

    async def rules_for(self, url: Url, host: PacedHost) -> RobotsRules | Failure:
        """Return the rules that apply to an address of the leased host; a Failure when they are not available now.

        Raises GivenBack when a redirect leads to a host that is not free soon.
        """
        known = await self._robots.get(url.origin, self._parts.clock.now())
        if known is None:
            answer = await self._ask(url, host)
            if isinstance(answer, Failure):
                return answer
            known = await self._put(answer, host)
        record, rules = known
        is_given_up = self._parts.clock.now() - record.fetched_at >= UNREACHABLE_S
        # It is known what is allowed, but the host asks to be left alone.
        if rules is None or (host.in_backoff and (record.body or (is_unread(record.status) and not is_given_up))):
            detail = f"robots.txt of {url.origin} is unreachable" + (f" ({record.status})" if record.status else "")
            again_at = record.expires_at if rules is None else host.state.next_at
            wait = max(again_at - self._parts.clock.now(), 1.0)
            return Failure(url, FailureCode.ROBOTS, detail, retry_after_s=wait, status=record.status)
        host.adopt_crawl_delay(rules.crawl_delay_s)
        if not has_text(record) and not rules.allows(url.address):
            # Rules that are only kept end soon: then is the time to ask again, not when one looks after rules in force.
            wait = max(record.fetched_at + self._settings.robots_ttl_s - self._parts.clock.now(), 1.0)
            detail = f"the last known robots.txt of {url.origin} forbids it"
            return Failure(url, FailureCode.ROBOTS, detail, retry_after_s=wait, status=record.status)
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
                if isinstance(answer, Failure) and len(asked) > 1:
                    return record_of(url.origin, _UNREAD_ELSEWHERE, b"", self._parts.clock.now(), self._settings)
                return self._record(url.origin, answer, host)
            asked.append(target)

    def _pause(self, origin: str, asked: list[Url]) -> None:
        """Remember how far an origin's redirects were followed, so that only the last address is asked for again."""
        if len(self._paused) >= _MOST_PAUSED:
            del self._paused[next(iter(self._paused))]
        self._paused[origin] = asked

    async def _request(self, target: Url, host: PacedHost) -> HttpAnswer | Failure | RobotsRecord:
        if target.host == host.name:
            return await host.request(target, Purpose.ROBOTS)
        return await self._ask_elsewhere(target, host)

    async def _ask_elsewhere(self, target: Url, borrower: PacedHost) -> HttpAnswer | Failure | RobotsRecord:
        """Request a redirect's target on another host, or return what is known of it."""
        if await self._parts.refusal_of(target):
            return Failure(target, FailureCode.ROBOTS, "robots.txt redirects to an address that may not be requested")
        is_robots = target.address == robots_address(target)
        known = await self._robots.get(target.origin, self._parts.clock.now())
        if is_robots and known is not None:
            return known[0]
        async with self._others.borrow(target.host, borrower) as host:
            host.robots_for = target
            if not is_robots:
                rules = known[1] if known is not None else await self._rules_of(target, host)
                if rules is None:
                    return Failure(target, FailureCode.ROBOTS, f"robots.txt of {target.origin} is unreachable")
                if not rules.allows(target.address):
                    return record_of(target.origin, _FORBIDDEN, b"", self._parts.clock.now(), self._settings)
            answer = await host.request(target, Purpose.ROBOTS)
            if isinstance(answer, HttpAnswer) and answer.location is None:
                record = self._record(target.origin, answer, host)
                if is_robots:
                    await self._keep(record, host)
                return record
            return answer

    async def _rules_of(self, target: Url, host: PacedHost) -> RobotsRules | None:
        """Return the rules of a borrowed host; None when they are not available, or are on a third host."""
        answer = await host.request(_robots_of(target), Purpose.ROBOTS)
        for _ in range(_REDIRECTS):
            if isinstance(answer, HttpAnswer) and answer.location is not None and answer.location.host == host.name:
                answer = await host.request(answer.location, Purpose.ROBOTS)
        if isinstance(answer, Failure) or answer.location is not None:
            return None
        return await self._keep(self._record(target.origin, answer, host), host)

    async def _keep(self, record: RobotsRecord, host: PacedHost) -> RobotsRules | None:
        """Store a borrowed host's answer for its own robots.txt; return its rules, None when there are none for now."""
        _, rules = await self._put(record, host)
        if rules is not None:
            host.adopt_crawl_delay(rules.crawl_delay_s)
        return rules

    async def _put(self, record: RobotsRecord, host: PacedHost) -> tuple[RobotsRecord, RobotsRules | None]:
        """Store an answer under the lease of its host: a process that was suspended meanwhile knows less than the one
        that has leased the host since. Raises GivenBack then."""
        await host.keep_for(THINKING_S)
        return await self._robots.put(record)

    def _record(self, origin: str, answer: HttpAnswer | Failure, host: PacedHost) -> RobotsRecord:
        now = self._parts.clock.now()
        if isinstance(answer, Failure):
            return record_of(origin, None, b"", now, self._settings)
        wait = host.retry_after_s(answer)
        return record_of(origin, answer.status, answer.body, now, self._settings, retry_after_s=wait)


def _robots_of(url: Url) -> Url:
    robots = read_url(robots_address(url))
    assert robots is not None, "an origin's robots.txt has an address"
    return robots
