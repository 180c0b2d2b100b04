"""Limit endless content: URL patterns without finds, and sites whose services look alike.

A pattern's pages may be asked until `max_fruitless_per_pattern` of them brought nothing new: no endpoint that nobody
knew, no other relevance than the page of the pattern before. Each find, of such a page or of one that it led to, allows
as many more, and pages refused meanwhile wait again; so a listing of data sets is never cut off
from its data sets. Requests to possible services are counted likewise, and there a find is a valid one.

A page that a listing names is not itself a trap: the finds of the listing's pattern count for it, too. Pages that a
spent budget refused are served when nothing else waits, up to named limits, so endless patterns
end.

Which of a pattern's pages are asked before its budget is spent follows the order of visits: unlike the other caps, this
one cannot be decided by the URL alone, because it counts what pages bring. Whether the budget is spent does not depend
on that order.

A find can come late: from a page that was read before the budget was spent, or read again since. Looking for refused
addresses goes through all of them, so it is put off until nothing else is ready, and is done once in as many visits as
a budget allows, or when nothing waits at all. The oldest addresses come first; those that a budget leaves out are
looked for again while it is not spent, and after the next find.

When nothing waits that a run would wait for, spent patterns are served late: of each pattern `late_per_pattern`
addresses that a listing names, a page without a pattern or of one that was never spent; of those that its own pages or
other spent patterns make, as many as its budget was. `pattern.late` counts both, so an endless pattern ends.

A site that has `max_alike_services` valid services of one pattern is quarantined: it gets no new visits until a person
releases it (`geocrawl release SITE`); endpoints that were valid before are still probed. The stored reason code is
`held`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, case, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from geocrawl.model import HARVEST_TIER, Purpose, State, Url
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import greatest, is_host_or_subdomain, upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import group_key, is_over_cap, stored_url
from geocrawl.store.database.schema.tables import ALIKE, ENDPOINT, HOST, PATTERN, SITE, URL
from geocrawl.store.database.steps import ChunkedWork, batches, ranges
from geocrawl.store.frontier.queue import changing
from geocrawl.store.frontier.statements import TURN
from geocrawl.urls import pattern_of, read_url, service_pattern

PATTERN_SPENT, HOSTS, QUARANTINED = "trap:pattern", "trap:hosts", "held"
"""Reasons: the pattern's budget is spent; the site has too many hosts; the site is quarantined."""
_Pattern = tuple[int, int]
"""Requests of a pattern without a find, but for late ones, and its finds."""
_CREDIT_HOPS = 5
_parent = URL.alias("parent")
_NAMED_BY = (
    select(_parent.c.address)
    .join_from(URL, _parent, _parent.c.id == URL.c.found_on)
    .where(URL.c.id == bindparam("url"))
)
"""Read the address of the page that named a URL."""
_row = insert(PATTERN)
_new_relevance = _row.excluded.last_relevance
_is_same = or_(_new_relevance == 0, _new_relevance == PATTERN.c.last_relevance)
_VISITED = _row.on_conflict_do_update(
    index_elements=["key"],
    set_={
        "fruitless": PATTERN.c.fruitless + case((_is_same, _row.excluded.fruitless), else_=0),
        "last_relevance": case((_new_relevance == 0, PATTERN.c.last_relevance), else_=_new_relevance),
    },
)
"""A page was read: `fruitless` 1 when it may count as such, `last_relevance` its relevance + 1 (0: not read). It does
not count when its relevance is another one than that of the page before."""
_used = (PATTERN.c.fruitless - PATTERN.c.late).label("used")
_FOUND = upsert(PATTERN, "key", add=["finds"]).returning(_used, PATTERN.c.finds)
_first = (
    select(URL.c.address, URL.c.found_on, literal(1).label("hops"))
    .where(URL.c.id == bindparam("url"))
    .cte("way", recursive=True)
)
_way = _first.union_all(
    select(_parent.c.address, _parent.c.found_on, _first.c.hops + 1)
    .join_from(_first, _parent, _parent.c.id == _first.c.found_on)
    .where(_first.c.hops < _CREDIT_HOPS)
)
_WAY = select(_way.c.address).order_by(_way.c.hops)
"""The page and those that led to it."""
_one = select(literal(1)).subquery("one")
_USED = (
    select(
        func.coalesce(SITE.c.hosts, 0),
        and_(SITE.c.held_at.is_not(None), SITE.c.released == 0),
        *(func.coalesce(_used, 0), func.coalesce(PATTERN.c.finds, 0)),
    )
    .select_from(_one)
    .outerjoin(SITE, SITE.c.name == bindparam("site"))
    .outerjoin(PATTERN, PATTERN.c.key == bindparam("key"))
)
"""Read of a site and a pattern: hosts seen, whether it is quarantined, fruitless requests, finds."""
_ENDPOINT = select(ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.site, ENDPOINT.c.last_ok.is_(None)).where(
    ENDPOINT.c.id == bindparam("endpoint")
)
_ALIKE = upsert(ALIKE, "key", add=["services"]).returning(ALIKE.c.services)
_QUARANTINE = update(SITE).where(SITE.c.name == bindparam("site"), SITE.c.held_at.is_(None), SITE.c.released == 0)


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of budgets; 0: no limit."""

    fruitless_per_pattern: int
    alike_services: int
    hosts_per_site: int
    late_per_pattern: int = 0
    """Most visits to a spent pattern's addresses that listings name, made when nothing else waits."""

    @classmethod
    def of(cls, settings: Settings) -> Caps:
        """Return the limits that the settings name."""
        return cls(
            settings.max_fruitless_per_pattern,
            settings.max_alike_services,
            settings.max_hosts_per_site,
            settings.max_late_per_pattern,
        )


class Budgets:
    """Counts the finds of patterns and sites. Every method works within the caller's transaction."""

    def __init__(
        self, connection: Connection, caps: Caps, on_growth: Callable[[int], object] = lambda key: None
    ) -> None:
        """Count for budgets; `on_growth(key)` is called when the spent budget of a pattern grows."""
        self._connection = connection
        self._caps = caps
        self._on_growth = on_growth

    # ----------------------------------------------------------------------- before a request

    def page_reason(self, url: Url, url_id: int) -> str:
        """Return why a page may not be requested, '' when it may."""
        key = page_pattern_key(url)
        hosts, is_quarantined, pattern = self._used(url.site, key)
        if is_quarantined:
            return QUARANTINED
        if is_spent(pattern, self._caps) and not self._is_listed(url_id, key, pattern):
            return PATTERN_SPENT
        return "" if url.host == url.site else crowded_site_reason(self._caps, url.host, hosts)

    def probe_reason(self, kind: str, address: str, site: str) -> str:
        """Return why an endpoint that never was valid may not be requested, '' when it may; others always may."""
        _, is_quarantined, pattern = self._used(site, service_pattern_key(kind, stored_url(address), site))
        if is_quarantined:
            return QUARANTINED
        return PATTERN_SPENT if is_spent(pattern, self._caps) else ""

    # ----------------------------------------------------------------------- after it

    def count_page(self, pattern: tuple[int, int, int]) -> None:
        """Count a requested page: (key of its pattern, 1 when it may count as fruitless, relevance + 1 or 0)."""
        key, fruitless, relevance = pattern
        self._connection.write(_VISITED, _visited(key, fruitless, relevance))

    def credit(self, page_id: int) -> None:
        """Credit the pattern of a page that named a new endpoint, and the patterns of the pages that led there."""
        urls = [read_url(address) for (address,) in self._connection.execute(_WAY, {"url": page_id}).fetchall()]
        keys = dict.fromkeys(page_pattern_key(url) for url in urls if url is not None)
        for key in keys:
            if key is not None:
                self._found(key)

    def probed(self, endpoint_id: int, *, valid: bool, at: float) -> bool:
        """Count a verdict on an endpoint that was never valid; quarantine its site when it has too many alike.

        Returns whether the endpoint was never valid before.
        """
        kind, address, site, is_new = self._connection.execute(_ENDPOINT, {"endpoint": endpoint_id}).fetchone()
        if not is_new:
            return False
        key = service_pattern_key(kind, stored_url(address), site)
        if not valid:
            self._connection.write(_VISITED, _visited(key, 1, 0))
            return True
        self._found(key)
        alike = self._connection.execute(_ALIKE, {"key": key, "services": 1}).fetchone()[0]
        if self._caps.alike_services and alike >= self._caps.alike_services:
            held_for = service_pattern(stored_url(address), site, kind)
            self._connection.execute(_QUARANTINE, {"site": site, "held_at": at, "held_for": held_for})
        return True

    # ----------------------------------------------------------------------- parts

    def _found(self, key: int) -> None:
        found = {**_visited(key, 0, 0), "finds": 1}
        fruitless, finds = self._connection.execute(_FOUND, found).fetchone()
        if 0 < self._caps.fruitless_per_pattern * finds <= fruitless:  # it was spent before this find
            self._on_growth(key)

    def _is_listed(self, url_id: int, key: int | None, pattern: _Pattern) -> bool:
        """Return whether a page of a spent pattern is named by pages of another one whose finds make up for it."""
        row = self._connection.execute(_NAMED_BY, {"url": url_id}).fetchone()
        listing = read_url(row[0]) if row is not None else None
        listing_key = page_pattern_key(listing) if listing is not None else None
        if listing_key in (None, key):
            return False
        found = self._connection.execute(_PATTERN, {"pattern": listing_key}).fetchone()
        return found is not None and not is_spent((pattern[0], pattern[1] + found[1]), self._caps)

    def _used(self, site: str, key: int | None) -> tuple[int, bool, _Pattern]:
        """Return how many hosts were seen of a site, whether it is quarantined, and what the pattern `key` had."""
        row: tuple[int, bool, int, int] = self._connection.execute(_USED, {"site": site, "key": key}).fetchone()
        return row[0], row[1], row[2:]


def _visited(key: int, fruitless: int, relevance: int) -> dict[str, int]:
    return {"key": key, "fruitless": fruitless, "finds": 0, "last_relevance": relevance}


def crowded_site_reason(caps: Caps, host: str, hosts: int) -> str:
    """Return why a page is left out ('' for none): its host is one too many of its site's, chosen by its name."""
    cap = caps.hosts_per_site
    return HOSTS if cap and hosts > cap and is_over_cap(group_key(f"host {host}"), hosts, cap) else ""


def is_spent(pattern: tuple[int, int] | None, caps: Caps) -> bool:
    """Return whether the budget of a pattern with these (fruitless requests, finds) is spent; None: no requests yet."""
    return pattern is not None and 0 < caps.fruitless_per_pattern * (1 + pattern[1]) <= pattern[0]


def is_counted(depth: int, tier: int, revisit_s: float | None) -> bool:
    """Return whether a page counts towards its pattern's budget.

    Start pages have none, a harvest's pages have bounds of their own, and pages that are read again were counted.
    """
    return depth > 0 and tier < HARVEST_TIER and revisit_s is None


@lru_cache(maxsize=1024)  # called at the lease and again at the settlement
def page_pattern_key(url: Url) -> int | None:
    """Return the key of a page's pattern; None for an address that is no pattern."""
    pattern = pattern_of(url)
    return group_key(f"page {pattern}") if pattern else None


def service_pattern_key(kind: str, url: Url, site: str) -> int:
    """Return the key of the pattern of an endpoint's address."""
    return group_key(f"service {service_pattern(url, site, kind)}")


# --------------------------------------------------------------------------- quarantined sites


_QUARANTINED_SITES = (
    select(SITE.c.name, SITE.c.held_at, SITE.c.held_for)
    .where(SITE.c.held_at.is_not(None), SITE.c.released == 0)
    .order_by(SITE.c.held_at, SITE.c.name)
)


@dataclass(frozen=True, slots=True)
class QuarantinedSite:
    """A quarantined site: it gets no new visits until a person releases it."""

    site: str
    since: float
    pattern: str
    """The pattern of its services' addresses."""


def quarantined_sites(connection: Connection) -> tuple[QuarantinedSite, ...]:
    """Return the sites that a person has to look at, in the order in which they were quarantined."""
    return tuple(QuarantinedSite(*row) for row in connection.execute(_QUARANTINED_SITES))


# --------------------------------------------------------------------------- what was refused waits again


_NAME = "patterns:lifted"
_MOST = 10_000
"""Patterns remembered at once."""
_IS_REFUSED = and_(
    URL.c.id.between(bindparam("first"), bindparam("last")), URL.c.state == State.REFUSED, URL.c.reason == PATTERN_SPENT
)
_REFUSED = (
    select(URL.c.id, URL.c.purpose, URL.c.address, ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.site)
    .join_from(URL, HOST, HOST.c.id == URL.c.host_id)
    .outerjoin(ENDPOINT, ENDPOINT.c.id == URL.c.endpoint_id)
    .where(_IS_REFUSED)
    .order_by(URL.c.id)
)
"""What was refused for its pattern."""
_REFUSED_OF_SITE = _REFUSED.where(is_host_or_subdomain(HOST.c.name, "site"))
_LATE_AT_ONCE = 2000
"""Addresses that are served late at once, in one transaction, at most."""
_REFUSED_PAGES = (
    select(URL.c.id, URL.c.address, _parent.c.address)
    .join_from(URL, _parent, _parent.c.id == URL.c.found_on, isouter=True)
    .where(_IS_REFUSED, URL.c.purpose == Purpose.PAGE)
    .order_by(URL.c.id)
)
"""Pages that were refused for their pattern, with the page that named each."""
_OF_KEY = PATTERN.c.key == bindparam("pattern")
_PATTERN = select(PATTERN.c.fruitless, PATTERN.c.finds, PATTERN.c.late).where(_OF_KEY)
_SERVE_LATE = (
    update(PATTERN).where(_OF_KEY).values(late=greatest(PATTERN.c.late + bindparam("number"), bindparam("least")))
)
_DOUBLE = (
    update(PATTERN)
    .where(_OF_KEY)
    .values(finds=greatest(PATTERN.c.finds, (PATTERN.c.fruitless + bindparam("budget") - 1) // bindparam("budget")))
)
_SETTLEMENTS = select(TURN)


class BudgetReopener:
    """Stores which patterns' budgets grew, and reopens what was refused for them in transactions of its own.

    Refused addresses are searched without the write lock, because there may be millions; each one is checked again in
    the transaction that puts it back into the queue.
    """

    def __init__(self, database: Database, caps: Caps) -> None:
        self._database = database
        self._connection: Connection = database.connection
        self._caps = caps
        self._budget = caps.fruitless_per_pattern
        self._served_late_at = -1
        """Number of settlements when spent patterns were last found to have nothing to serve late."""

    def add(self, key: int) -> None:
        """Remember a pattern whose spent budget has grown, inside the caller's transaction."""
        keys, looked_at = self._read()
        if len(keys) < _MOST:
            self._write(keys | {key}, looked_at)

    def is_due(self, nothing_waits: Callable[[], bool]) -> bool:
        """Return whether it is time to look for refused addresses."""
        keys, looked_at = self._read()
        return bool(keys) and (self._settlements() - looked_at >= self._budget or nothing_waits())

    def reopen(self) -> ChunkedWork[int]:
        """Let refused addresses wait again, as far as the budgets go; return how many."""
        looked_at = self._settlements()
        left = {key: self._left(key) for key in self._read()[0]}
        more, found = set[int](), list[int]()
        for first, last in ranges(self._connection, "url"):
            for url_id, key in self._refused(_REFUSED, first, last):
                if left.get(key, 0) > 0:
                    left[key] -= 1
                    found.append(url_id)
                elif key in left:
                    more.add(key)
            if more.issuperset(left):
                break
            yield
        count = 0
        for batch in batches(found):
            with changing(self._database) as queue:
                count += sum(queue.reopen_refused(url_id, PATTERN_SPENT) for url_id in batch)
            yield
        with self._database.transaction:
            added = self._read()[0].difference(left)
            self._write({key for key in more if self._left(key) > 0} | added, looked_at)
        return count

    def is_late_due(self, nothing_waits: Callable[[], bool]) -> bool:
        """Return whether it is time to serve spent patterns: nothing waits, and visits were settled since the last
        try."""
        if not self._budget or not self._caps.late_per_pattern:
            return False
        return self._settlements() != self._served_late_at and nothing_waits()

    def reopen_late(self) -> ChunkedWork[int]:
        """Let addresses of spent patterns wait again, as far as their late limits go; return how many."""
        served: dict[int, int] = {}
        found, most = list[int](), self._caps.late_per_pattern
        for first, last in ranges(self._connection, "url"):
            for url_id, key, by in self._refused_pages(first, last):
                _, finds, late = self._pattern(key)
                limit = most if self._is_listing(by, key) else min(self._budget * (1 + finds), most)
                if late + served.get(key, 0) < limit and len(found) < _LATE_AT_ONCE:
                    served[key] = served.get(key, 0) + 1
                    found.append(url_id)
            if len(found) >= _LATE_AT_ONCE:
                break
            yield
        with changing(self._database) as queue:
            count = sum(queue.reopen_refused(url_id, PATTERN_SPENT) for url_id in found)
            for key, number in served.items():
                _, finds, _ = self._pattern(key)
                least = min(self._budget * (1 + finds), most)
                self._connection.execute(_SERVE_LATE, {"pattern": key, "number": number, "least": least})
        if not count:
            self._served_late_at = self._settlements()
        return count

    def _is_listing(self, by: int | None, key: int) -> bool:
        """Return whether pages of the pattern `by` (None: of no pattern) list those of another pattern, `key`."""
        return by is None or (by != key and not is_spent(self._pattern(by)[:2], self._caps))

    def _pattern(self, key: int) -> tuple[int, int, int]:
        """Return the fruitless requests and the finds of a pattern, and how many more it was granted late."""
        return self._connection.execute(_PATTERN, {"pattern": key}).fetchone() or (0, 0, 0)

    def _refused_pages(self, first: int, last: int) -> Iterator[tuple[int, int, int | None]]:
        """Yield id and pattern of each page that was refused for its pattern, and the pattern that named it."""
        found = self._connection.execute(_REFUSED_PAGES, {"first": first, "last": last}).fetchall()
        for url_id, address, named_by in found:
            url, listing = read_url(address), read_url(named_by or "")
            key = page_pattern_key(url) if url is not None else None
            if key is not None:
                yield url_id, key, page_pattern_key(listing) if listing is not None else None

    def release(self, site: str) -> ChunkedWork[bool]:
        """Double the spent budgets of a site's patterns, because a person released the site; return whether there are
        any."""
        keys, some = set[int](), False
        for first, last in ranges(self._connection, "url"):
            refused = list(self._refused(_REFUSED_OF_SITE, first, last, site=site))
            some = some or bool(refused)
            keys |= {key for _, key in refused}
            yield
        for batch in batches(sorted(keys) if self._budget else ()):
            with self._database.transaction:
                self._connection.executemany(_DOUBLE, [{"pattern": key, "budget": self._budget} for key in batch])
                grown, looked_at = self._read()
                self._write(grown.union(batch[: max(_MOST - len(grown), 0)]), looked_at)
            yield
        return some

    def _left(self, key: int) -> int:
        """Return how many requests a pattern's budget still allows."""
        row = self._connection.execute(_PATTERN, {"pattern": key}).fetchone()
        if row is None:
            return 0
        fruitless, finds, late = row
        return max(int(self._budget * (1 + finds) - (fruitless - late)), 0)

    def _settlements(self) -> int:
        return int(self._connection.execute(_SETTLEMENTS).fetchone()[0])

    def _refused(self, statement: Select[Any], first: int, last: int, **more: str) -> Iterator[tuple[int, int]]:
        """Yield id and pattern of each address that the statement finds in a range of ids, the oldest first."""
        found = self._connection.execute(statement, {"first": first, "last": last, **more}).fetchall()
        for url_id, purpose, address, kind, service, site in found:
            url = read_url(address) if purpose == Purpose.PAGE else None
            key = page_pattern_key(url) if url is not None else service_pattern_key(kind, stored_url(service), site)
            if key is not None:
                yield url_id, key

    def _read(self) -> tuple[set[int], int]:
        """Return the keys of patterns whose budgets grew, and the number of settlements at the last search."""
        keys, looked_at = json.loads(self._database.meta(_NAME) or f"[[], {-self._budget}]")
        return set(keys), looked_at

    def _write(self, keys: Set[int], looked_at: int) -> None:
        self._database.write_meta(_NAME, json.dumps((sorted(keys), looked_at)))
