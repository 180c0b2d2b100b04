"""Read what a settlement has to know of the database, in three statements whatever the number of links.

First the visited URL with its host's lease (`read_current`), then which of the linked addresses are known
(`read_urls`), then, for those that are not, their hosts, sites, queries and patterns (`read_facts`). `arrivals.py`
works on the result without a database.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from geocrawl.model import Rank
from geocrawl.store.cache import TwoGenerations
from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import shared_statements as shared
from geocrawl.store.frontier import statements as sql

_REMEMBERED_HOSTS = 20_000
_MANY = 2**62


class Current(NamedTuple):
    """The current row of a URL, with the lease on its host (the order of `statements.CURRENT`)."""

    host_id: int
    purpose: str
    state: str
    depth: int
    tier: int
    score: float
    attempts: int
    hops: int
    endpoint_id: int | None
    found_on: int | None
    reason: str | None
    revisit_s: float | None
    digest: int | None
    lists_news: int
    """1 for a seed, a sitemap and a page of records, to which sites add new entries."""
    lease_token: int
    lease_url: int | None


@dataclass(slots=True)
class KnownUrl:
    """A page or probe that is in the frontier."""

    id: int
    depth: int
    rank: Rank
    state: str


@dataclass(slots=True)
class Facts:
    """The facts that decide on unknown addresses, and ids for them."""

    url_ids: Sequence[int] = range(1, _MANY)
    """Ids for new URLs, ascending."""
    host_ids: Sequence[int] = range(1, _MANY)
    hosts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Host name → (id, pages seen of it)."""
    site_hosts: dict[str, int] = field(default_factory=dict)
    """Site → hosts seen of it."""
    queries: dict[int, int] = field(default_factory=dict)
    """Key of a path → addresses seen that differ only in their query."""
    patterns: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Key of a pattern → (fruitless requests, finds)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The keys for which `read_facts` reads facts."""

    hosts: Collection[str] = ()
    sites: Collection[str] = ()
    queries: Collection[int] = ()
    patterns: Collection[int] = ()

    @property
    def is_nothing(self) -> bool:
        """Return whether no unknown address arrives."""
        return not (self.hosts or self.patterns)


@dataclass(frozen=True, slots=True)
class LockedHosts:
    """The hosts that a transaction beside others' has locked."""

    names: Set[str]
    """Names of the hosts that were to be locked; a host that is new has no row yet, and no id in `ids`."""
    ids: Set[int]


class SnapshotReader:
    """Reads snapshots on one connection; remembers hosts from one settlement to the next."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hosts: TwoGenerations[str, tuple[int, int]] = TwoGenerations(_REMEMBERED_HOSTS)

    def clear(self) -> None:
        """Drop cached hosts, because a transaction was rolled back or rows were deleted."""
        self._hosts.clear()

    def remember_host(self, name: str, host: tuple[int, int]) -> None:
        """Remember (id, pages seen) of a host after a settlement."""
        self._hosts.put(name, host)

    def lock_hosts(self, names: Set[str]) -> LockedHosts:
        """Lock these hosts' rows until the transaction ends, and read how many pages were seen of each.

        Works in a transaction beside others'."""
        rows = self._connection.execute(shared.LOCK_HOSTS, (sorted(names),)).fetchall()
        for name, host_id, pages in rows:
            self._hosts.put(name, (host_id, pages))
        return LockedHosts(names, {host_id for _, host_id, _ in rows})

    def take_ids(self, facts: Facts, urls: int, hosts: int) -> None:
        """Give `facts` ids that no other process takes: as many as new URLs and new hosts will be added."""
        facts.url_ids, facts.host_ids = self._connection.execute(shared.TAKE_NUMBERS, (urls, hosts)).fetchone()

    def read_current(self, url_id: int) -> Current | None:
        """Return a URL with its host's lease; None when there is no such URL."""
        row = self._connection.execute(sql.CURRENT, (url_id,)).fetchone()
        return Current(*row) if row else None

    def read_urls(self, keys: Iterable[int]) -> dict[int, KnownUrl]:
        """Return those of the pages and probes with these keys that are known, by key."""
        wanted = list(keys)
        if not wanted:
            return {}
        rows = self._connection.execute(sql.KNOWN_URLS, (json.dumps(wanted),)).fetchall()
        return {
            key: KnownUrl(url_id, depth, Rank(tier, score), state) for key, url_id, depth, tier, score, state in rows
        }

    def read_facts(self, wanted: Wanted) -> Facts:
        """Return the current hosts, sites, queries and patterns, and the ids that are free."""
        facts = Facts()
        if wanted.is_nothing:
            return facts
        hosts = []
        for name in wanted.hosts:
            if (known := self._hosts.get(name)) is not None:
                facts.hosts[name] = known
            else:
                hosts.append(name)
        lists = (hosts, wanted.sites, wanted.queries, wanted.patterns)
        values = [json.dumps(list(each)) for each in lists if each]
        rows = self._connection.execute(sql.facts(*map(bool, lists)), values)
        for what, name, first, second in rows.fetchall():
            if what == "host":
                facts.hosts[name] = (first, second)
            elif what == "site":
                facts.site_hosts[name] = first
            elif what == "queries":
                facts.queries[int(name)] = first
            elif what == "pattern":
                facts.patterns[int(name)] = (first, second)
            else:
                facts.url_ids, facts.host_ids = range(first + 1, _MANY), range(second + 1, _MANY)
        return facts
