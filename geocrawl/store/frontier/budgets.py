"""Limit endless content: URL patterns without finds, and sites whose services look alike.

A pattern's pages may be asked until `max_fruitless_per_pattern` of them brought nothing new: no endpoint that nobody
knew, no other relevance than the page of the pattern before. Each find, of such a page or of one that it led to, allows
as many more, and pages refused meanwhile wait again; so a listing of data sets is never cut off
from its data sets. Requests to possible services are counted likewise, and there a find is a valid one.

A page that a listing names is not itself a trap: the finds of the listing's pattern count for it, too.

Addresses of a spent pattern wait in the lowest tier (`LATE_TIER`), in the order of their keys, and are leased when
nothing else waits that a run would wait for. Then all that the rest of the web names is known, and a bound a pattern
chooses by key: `late_per_pattern` of the addresses that a listing names (a page without a pattern or of one that is not
spent), and as many as the budget of those that the pattern's own pages or other spent patterns make. `pattern.late`
counts the addresses that came to wait there. Those beyond the bound are refused (`trap:pattern`), so an endless pattern
ends.

Which of a pattern's pages are asked before its budget is spent follows the order of visits: unlike the other caps, this
one cannot be decided by the URL alone, because it counts what pages bring. Whether the budget is spent does not depend
on that order.

A site that has `max_alike_services` valid services of one pattern is quarantined: it gets no new visits until a person
releases it (`geocrawl release SITE`); endpoints that were valid before are still probed. The stored reason code is
`held`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import and_, bindparam, case, func, literal, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from geocrawl.model import ENDLESS_SITEMAPS, HARVEST_TIER, LATE_TIER, MISSING_FOLDER, Purpose, State, Url
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import is_host_or_subdomain, upsert
from geocrawl.store.database.keys import group_key, is_over_cap, stored_url
from geocrawl.store.database.schema.tables import ALIKE, ENDPOINT, HOST, PATTERN, SITE, URL
from geocrawl.urls import pattern_of, read_url, service_pattern

PATTERN_SPENT, HOSTS, QUARANTINED = "trap:pattern", "trap:hosts", "held"
"""Reasons: the pattern's budget is spent; the site has too many hosts; the site is quarantined."""
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
_FIND = upsert(PATTERN, "key", add=["finds"])
_COUNT_LATE = upsert(PATTERN, "key", add=["late"])
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
_OF_KEY = PATTERN.c.key == bindparam("pattern")
_PATTERN = select(PATTERN.c.fruitless, PATTERN.c.finds, PATTERN.c.late).where(_OF_KEY)
_one = select(literal(1)).subquery("one")
_USED = (
    select(
        func.coalesce(SITE.c.hosts, 0),
        and_(SITE.c.held_at.is_not(None), SITE.c.released == 0),
        *(func.coalesce(PATTERN.c[name], 0) for name in ("fruitless", "finds", "late")),
    )
    .select_from(_one)
    .outerjoin(SITE, SITE.c.name == bindparam("site"))
    .outerjoin(PATTERN, PATTERN.c.key == bindparam("key"))
)
"""Read of a site and a pattern: hosts seen, whether it is quarantined, fruitless requests, finds, late addresses."""
_ENDPOINT = select(ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.site, ENDPOINT.c.last_ok.is_(None)).where(
    ENDPOINT.c.id == bindparam("endpoint")
)
_ALIKE = upsert(ALIKE, "key", add=["services"]).returning(ALIKE.c.services)
_QUARANTINE = update(SITE).where(SITE.c.name == bindparam("site"), SITE.c.held_at.is_(None), SITE.c.released == 0)


class PatternCounts(NamedTuple):
    """What was counted of a pattern."""

    fruitless: int
    """Requests without a find, but for those of the lowest tier."""
    finds: int
    late: int
    """Addresses that came to wait in the lowest tier."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of budgets; 0: no limit."""

    fruitless_per_pattern: int
    alike_services: int
    hosts_per_site: int
    late_per_pattern: int = 0
    """Addresses of a spent pattern that listings name which are asked when nothing else waits."""

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

    def __init__(self, connection: Connection, caps: Caps) -> None:
        self._connection = connection
        self._caps = caps

    # ----------------------------------------------------------------------- before a request

    def page_reason(self, url: Url, url_id: int, key: int, tier: int) -> str:
        """Return why a page may not be requested, '' when it may.

        `PATTERN_SPENT` of a page above the lowest tier: it has to wait there; of one in it: it is beyond the bound.
        """
        pattern_key = page_pattern_key(url)
        hosts, is_quarantined, pattern = self._used(url.site, pattern_key)
        if is_quarantined:
            return QUARANTINED
        if tier == LATE_TIER:
            if is_over_cap(
                key, pattern.late, self._late_limit(pattern, is_listed=self._is_listed(url_id, pattern_key))
            ):
                return PATTERN_SPENT
        elif is_spent(pattern, self._caps) and not self._has_fruitful_listing(url_id, pattern_key, pattern):
            return PATTERN_SPENT
        return "" if url.host == url.site else crowded_site_reason(self._caps, url.host, hosts)

    def probe_reason(self, kind: str, address: str, site: str, key: int, tier: int) -> str:
        """Return why an endpoint that never was valid may not be requested, '' when it may, as `page_reason` does;
        others always may."""
        _, is_quarantined, pattern = self._used(site, service_pattern_key(kind, stored_url(address), site))
        if is_quarantined:
            return QUARANTINED
        if tier == LATE_TIER:
            return PATTERN_SPENT if is_over_cap(key, pattern.late, self._late_limit(pattern)) else ""
        return PATTERN_SPENT if is_spent(pattern, self._caps) else ""

    def count_late(self, keys: Iterable[int]) -> None:
        """Count addresses that from now on wait in the lowest tier, each by the key of its pattern."""
        rows = [{**_visited(key, 0, 0), "late": count} for key, count in sorted(Counter(keys).items())]
        self._connection.write_many(_COUNT_LATE, rows)

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
                self._count_find(key)

    def probed(self, endpoint_id: int, *, valid: bool, is_late: bool, at: float) -> bool:
        """Count a verdict on an endpoint that was never valid; quarantine its site when it has too many alike.

        `is_late`: its probe waited in the lowest tier. Returns whether the endpoint was never valid before.
        """
        kind, address, site, is_new = self._connection.execute(_ENDPOINT, {"endpoint": endpoint_id}).fetchone()
        if not is_new:
            return False
        key = service_pattern_key(kind, stored_url(address), site)
        if not valid:
            self._connection.write(_VISITED, _visited(key, int(not is_late), 0))
            return True
        self._count_find(key)
        alike = self._connection.execute(_ALIKE, {"key": key, "services": 1}).fetchone()[0]
        if self._caps.alike_services and alike >= self._caps.alike_services:
            held_for = service_pattern(stored_url(address), site, kind)
            self._connection.execute(_QUARANTINE, {"site": site, "held_at": at, "held_for": held_for})
        return True

    # ----------------------------------------------------------------------- parts

    def _count_find(self, key: int) -> None:
        self._connection.write(_FIND, {**_visited(key, 0, 0), "finds": 1})

    def _late_limit(self, pattern: PatternCounts, *, is_listed: bool = False) -> int:
        """Return how many addresses of the lowest tier are asked."""
        most = self._caps.late_per_pattern
        if is_listed:
            return most
        budget = self._caps.fruitless_per_pattern
        return min(budget * (1 + pattern.finds), most) if budget else most

    def _is_listed(self, url_id: int, key: int | None) -> bool:
        """Return whether a page without a pattern, or of another one that is not spent, names this page."""
        listing = self._listing(url_id)
        return listing is None or (listing != key and not is_spent(self._counts(listing), self._caps))

    def _has_fruitful_listing(self, url_id: int, key: int | None, pattern: PatternCounts) -> bool:
        """Return whether the finds of another pattern, whose page names this page, make up for those it lacks."""
        listing = self._listing(url_id)
        if listing in (None, key):
            return False
        finds = pattern.finds + self._counts(listing).finds
        return not is_spent(pattern._replace(finds=finds), self._caps)

    def _listing(self, url_id: int) -> int | None:
        """Return the key of the pattern of the page that names a page; None for none."""
        row = self._connection.execute(_NAMED_BY, {"url": url_id}).fetchone()
        listing = read_url(row[0]) if row is not None else None
        return page_pattern_key(listing) if listing is not None else None

    def _counts(self, key: int | None) -> PatternCounts:
        return PatternCounts(*(self._connection.execute(_PATTERN, {"pattern": key}).fetchone() or (0, 0, 0)))

    def _used(self, site: str, key: int | None) -> tuple[int, bool, PatternCounts]:
        """Return how many hosts were seen of a site, whether it is quarantined, and what the pattern `key` had."""
        hosts, is_quarantined, *counts = self._connection.execute(_USED, {"site": site, "key": key}).fetchone()
        return hosts, bool(is_quarantined), PatternCounts(*counts)


def _visited(key: int, fruitless: int, relevance: int) -> dict[str, int]:
    return {"key": key, "fruitless": fruitless, "finds": 0, "last_relevance": relevance}


def crowded_site_reason(caps: Caps, host: str, hosts: int) -> str:
    """Return why a page is left out ('' for none): its host is one too many of its site's, chosen by its name."""
    cap = caps.hosts_per_site
    return HOSTS if cap and hosts > cap and is_over_cap(group_key(f"host {host}"), hosts, cap) else ""


def is_spent(pattern: PatternCounts, caps: Caps) -> bool:
    """Return whether the budget of a pattern is spent."""
    return 0 < caps.fruitless_per_pattern * (1 + pattern.finds) <= pattern.fruitless


def is_counted(depth: int, tier: int, revisit_s: float | None) -> bool:
    """Return whether a page counts towards its pattern's budget.

    Start pages have none, a harvest's pages and those of the lowest tier have bounds of their own, and pages that are
    read again were counted.
    """
    return depth > 0 and LATE_TIER < tier < HARVEST_TIER and revisit_s is None


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


# --------------------------------------------------------------------------- released sites


_OF_SITE = (
    select(URL.c.id, URL.c.purpose, URL.c.state, URL.c.reason, URL.c.address)
    .add_columns(ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.site)
    .join_from(URL, HOST, HOST.c.id == URL.c.host_id)
    .outerjoin(ENDPOINT, ENDPOINT.c.id == URL.c.endpoint_id)
    .where(URL.c.id.between(bindparam("first"), bindparam("last")), is_host_or_subdomain(HOST.c.name, "site"))
    .where(
        (URL.c.state == State.REFUSED)
        & URL.c.reason.in_([QUARANTINED, PATTERN_SPENT, MISSING_FOLDER, ENDLESS_SITEMAPS])
        | (URL.c.state == State.WAITING) & (URL.c.tier == LATE_TIER)
    )
    .order_by(URL.c.id)
)
"""Find what a site's quarantine, its spent patterns and its folders without pages keep from being asked."""
_DOUBLE = update(PATTERN).where(_OF_KEY).values(finds=2 * PATTERN.c.finds + 1)


class SetAside(NamedTuple):
    """An address that a quarantine or a spent pattern keeps from being asked."""

    id: int
    reason: str | None
    """Why it is refused; None for one that waits in the lowest tier."""
    pattern: int | None


def set_aside_of(connection: Connection, site: str, first: int, last: int) -> Iterator[SetAside]:
    """Yield what is set aside of a site, of the URLs with ids from `first` to `last`."""
    rows = connection.execute(_OF_SITE, {"site": site, "first": first, "last": last}).fetchall()
    for url_id, purpose, state, reason, address, kind, service, of_site in rows:
        if purpose == Purpose.PAGE:
            key = page_pattern_key(stored_url(address))
        else:
            key = service_pattern_key(kind, stored_url(service), of_site) if kind else None
        yield SetAside(url_id, reason if state == State.REFUSED else None, key)


def double_budgets(connection: Connection, keys: Iterable[int]) -> None:
    """Double the budgets of patterns, inside the caller's transaction."""
    connection.executemany(_DOUBLE, [{"pattern": key} for key in sorted(keys)])
