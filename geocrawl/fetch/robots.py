"""Read robots.txt under RFC 9309: what an origin's answer means, and its rules by protego.

2xx                              its text, up to 500 KiB; what is no text contains no rules
4xx, redirects without target    no rules, everything is allowed (2.3.1.3)
429                              not now, though the RFC counts it as 4xx: the host asks us to slow down
5xx, no answer                   not now: nothing is allowed for a while (2.3.1.4)
"""

from __future__ import annotations

import re
from collections import OrderedDict

from protego import Protego

from geocrawl.model import RobotsRecord
from geocrawl.ports import RobotsStore
from geocrawl.settings import Settings

_AGENT_LINE = re.compile(
    r"^([^\S\n]*user(?:-|[^\S\n]+)?agent[^\S\n]*(?::|[^\S\n]))([^\n#]*)", re.IGNORECASE | re.MULTILINE
)
_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309, 2.2.1
_OTHER_CRAWLERS = "!"  # no product token contains this character
_MARKUP = re.compile(r"\s*<")
_SITEMAP_LINE = re.compile(r"^[^\S\n]*sitemap[^\S\n]*:[^\S\n]*(\S{1,2000})", re.IGNORECASE | re.MULTILINE)
ROBOTS_BODY_BYTES = 500 * 1024
"""Longest robots.txt; the rest is not read (RFC 9309, 2.5)."""
MAX_SITEMAPS = 20
"""Sitemap lines of one robots.txt that are followed: a site with more names an index of sitemaps."""
_CACHE_CHARS = 16 * 1024 * 1024
_CACHE_ORIGINS = 4096


class Rules:
    """What one origin allows us."""

    def __init__(self, text: str, token: str) -> None:
        """Parse `text`, a robots.txt, for the crawler with this product token (lower case)."""
        self._token = token
        self._rules = Protego.parse(_only_ours(text, token)) if text.strip() else None
        self.sitemaps = sitemaps_of(text)
        self.crawl_delay_s: float | None = self._rules.crawl_delay(token) if self._rules else None

    def allows(self, address: str) -> bool:
        """Return whether this address may be requested."""
        return self._rules is None or bool(self._rules.can_fetch(address, self._token))


class RobotsCache:
    """Records from the store with their rules parsed; the latest ones are kept, bounded by the length of their text.

    A record that is kept costs no wait for the store.
    """

    def __init__(self, store: RobotsStore, token: str) -> None:
        self._store = store
        self._token = token
        self._parsed: OrderedDict[str, tuple[RobotsRecord, Rules | None]] = OrderedDict()
        self._chars = 0

    async def get(self, origin: str, now: float) -> tuple[RobotsRecord, Rules | None] | None:
        """Return the origin's record with its rules (None: not now); None when it must be fetched.

        `now`: the time at which the record must still be valid.
        """
        found = self._parsed.get(origin)
        if found is not None:
            if found[0].expires_at > now:
                self._parsed.move_to_end(origin)
                return found
            self._forget(origin)
        record = await self._store.read_robots(origin)
        return self._remember(record) if record is not None and record.expires_at > now else None

    async def put(self, record: RobotsRecord) -> tuple[RobotsRecord, Rules | None]:
        """Keep a new record, here and in the store, and return it with its rules."""
        await self._store.write_robots(record)
        return self._remember(record)

    def _remember(self, record: RobotsRecord) -> tuple[RobotsRecord, Rules | None]:
        self._forget(record.origin)
        if record.body is None:  # the store is asked again: what an outage of ours wrote is deleted there
            return record, None
        rules = Rules(record.body, self._token)
        self._parsed[record.origin] = record, rules
        self._chars += len(record.body)
        while len(self._parsed) > 1 and (self._chars > _CACHE_CHARS or len(self._parsed) > _CACHE_ORIGINS):
            self._forget(next(iter(self._parsed)))
        return record, rules

    def _forget(self, origin: str) -> None:
        if (found := self._parsed.pop(origin, None)) is not None:
            self._chars -= len(found[0].body or "")


def product_token(user_agent: str) -> str:
    """Return our name in robots.txt (RFC 9309, 2.2.1): the User-Agent's first token, in lower case."""
    found = _TOKEN.match(user_agent.strip())
    return found[0].lower() if found else "geocrawl"


def record_of(
    origin: str, status: int | None, body: bytes, now: float, settings: Settings, *, retry_after_s: float | None = None
) -> RobotsRecord:
    """Return the record of an answer to /robots.txt (RFC 9309, 2.3.1). `status` None: there was no answer."""
    text: str | None = ""
    if status is None or status == 429 or status >= 500:
        text = None
    elif 200 <= status < 300:
        text = read_text(body)
    ttl = settings.robots_ttl_s if text is not None else settings.robots_error_ttl_s
    if text is None and retry_after_s is not None:
        ttl = max(retry_after_s, settings.backoff_first_s)
    return RobotsRecord(origin, status, text, now, now + ttl)


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
    if "itemap" not in text and "ITEMAP" not in text:
        return ()
    lines = _SITEMAP_LINE.findall("\n".join(text.splitlines()))
    return tuple(dict.fromkeys(lines))[:MAX_SITEMAPS]


def _only_ours(text: str, token: str) -> str:
    """Return the text with all crawlers but us and `*` renamed to one that does not exist.

    Names match whole product tokens in any case (RFC 9309, 2.2.1), and thousands of groups cost nothing.
    """

    def rename(line: re.Match[str]) -> str:
        value = line[2].strip()
        if value != "*":
            found = _TOKEN.match(value)
            value = token if found and found[0].lower() == token else _OTHER_CRAWLERS
        return line[1] + value

    return _AGENT_LINE.sub(rename, "\n".join(text.splitlines()))
