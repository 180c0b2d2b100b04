"""Lease the best ready URL together with its host, after all that decides which one that is.

Where depth is limited, shorter ways are followed to their end; due URLs are made ready, and URLs that caps or budgets
exclude by now are refused or put last. Each of these may concern any number of URLs, so a lease takes as many
transactions as it needs; mostly one. With one worker the order of visits is the same as if it were always one: nothing
is leased before all of it is done.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from geocrawl.model import (
    BATCH_TIER,
    HARVEST_TIER,
    LATE_TIER,
    MOST_KILLS,
    Candidate,
    Entry,
    HostState,
    Lease,
    Purpose,
    Rank,
    State,
    Validators,
    WaitingHost,
)
from geocrawl.model.health import DAY_S, turn_at
from geocrawl.settings import Settings
from geocrawl.store.catalogue.write.verdicts import stored_candidate
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.keys import group_key, stored_url
from geocrawl.store.database.opt_out import FORGOTTEN
from geocrawl.store.database.steps import ChunkedWork, RowBudget
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import (
    PATTERN_SPENT,
    Budgets,
    page_pattern_key,
    service_pattern_key,
)
from geocrawl.store.frontier.depth import Depths
from geocrawl.store.frontier.economy import Economy
from geocrawl.store.frontier.hosts import PARK_S
from geocrawl.store.frontier.lifecycle import KILLED, NAMED_TIER, PROBE_TIER
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.frontier.plan import LinkLimits
from geocrawl.store.frontier.queue import Queue, changing
from geocrawl.store.frontier.shared_run import SharedRun
from geocrawl.urls import query_group

_REQUESTS_BUT_MAPS = 12
"""Requests of one lease besides content checks, at most: robots.txt, redirects, a probe's interview."""
_ANY_TIER = -(2**31)
_MOST_TOLD_KILLERS = 100
_WHOLE_AMONG = 12
"""Sets that one in so many light probes asks for the whole description: a "not modified" (304) names no layer to ask
for in turn."""
_READ_AT_ONCE = 200
"""URLs of one host that are read to be refused one after the other."""


class _Head(NamedTuple):
    """A row of `statements.HEADS`."""

    id: int
    key: int
    address: str
    purpose: str
    depth: int
    tier: int
    score: float
    attempts: int
    hops: int
    revisit_s: float | None
    never_valid: int
    """Of a probe's endpoint: 1 when it never was valid."""
    site: str
    kind: str | None
    """Of a probe's endpoint; None when the endpoint was removed with its host."""
    endpoint_key: str
    endpoint_url: str
    weak: int
    signal: str | None
    page: str | None
    link: str | None
    anchor: str | None
    """Of the evidence."""
    sub_queue: int | None
    kills: int
    every_s: float | None
    whole_at: float | None

    @property
    def pattern(self) -> int | None:
        """Return the key of the pattern whose budget the URL's visit is counted towards; None without one."""
        if self.purpose == Purpose.PAGE:
            return page_pattern_key(stored_url(self.address))
        return service_pattern_key(self.kind or "", stored_url(self.endpoint_url), self.site)

    def candidate(self) -> Candidate:
        """Return the candidate that a probe's endpoint was first known as."""
        found = (self.signal, self.page, self.link, self.anchor)
        return stored_candidate(self.kind or "", self.endpoint_key, self.endpoint_url, self.weak, *found)


class _Ready(NamedTuple):
    """A row of `statements.READY_HOSTS`."""

    id: int
    name: str
    next_at: float
    errors: int
    last_error_at: float
    crawl_delay_s: float | None
    asked_day: int
    asked: int
    troubled_at: float
    troubled_address: str
    refusals: int
    lease_token: int
    pages: int
    """Pages seen of the host."""
    best_tier: int
    best_score: float
    turn: int
    waiting: int
    """URLs of the queue."""

    @property
    def head(self) -> Rank:
        """Return the rank of the head of the host's queue."""
        return Rank(self.best_tier, self.best_score)

    def place(self, tier: int, score: float) -> tuple[float, ...]:
        """Return the host's place among ready ones if its head had this rank, as `statements.READY_HOSTS` orders them;
        the lowest place is served first."""
        return -tier, -score, self.turn, self.next_at, self.id


def lease_of_s(host: HostState, settings: Settings) -> float:
    """Return the seconds for which a host is leased, including the delay before each request of the lease."""
    pace_s = settings.pace_s(host.name, host.crawl_delay_s)
    return max(settings.lease_s, pace_s * (settings.map_requests + _REQUESTS_BUT_MAPS))


class Leases:
    """Leases URLs, each in as many short transactions as it needs, and answers when the next one can be leased."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        limits: LinkLimits,
        budgets: Budgets,
        depths: Depths,
        options: FrontierOptions,
        *,
        owner: str,
    ) -> None:
        """`owner`: text of the leases' `Owner`."""
        self._database = database
        self._connection: Connection = database.connection
        self._settings = settings
        self._limits = limits
        self._budgets = budgets
        self._depths = depths
        self._economy = Economy(
            self._connection, settings, owner=owner, by_yield=options.by_yield, by_depth=options.by_depth
        )
        self._batches = Batches(self._connection, options.stride) if options.stride > 1 else None
        self._owner = owner
        self._records_only = options.records_only
        self._least_tier = NAMED_TIER if options.named_only else HARVEST_TIER if options.records_only else _ANY_TIER
        self._looks_first = self._has_leased = self._stops_after_one = False
        self.shared_run: SharedRun | None = None

    def expect_work(self) -> None:
        """Let the next lease begin without a look whether anything is ready: a visit was settled, so mostly it is."""
        self._looks_first = False

    def lease(self, now: float, *, pages: bool) -> ChunkedWork[Lease | None]:
        """Lease the best ready entry and its host; None: nothing is ready now, or what is ready waits for better pages
        (`Economy`). `pages=False`: probes only."""
        yield from self._depths.follow()
        lease = None
        if not self._looks_first or self._may_be_ready(now, pages=pages):
            lease = yield from self._lease_ready(now, pages=pages)
        if self._has_leased:
            self._stops_after_one = lease is None
        self._has_leased = lease is not None
        self._looks_first = lease is None or self._stops_after_one  # it costs less than a transaction in vain
        return lease

    def _may_be_ready(self, now: float, *, pages: bool) -> bool:
        """Return whether a lease may succeed. Reads only, because idle workers call this often."""
        if self._connection.execute(sql.DUE, {"now": now, "most": 1}).fetchone():
            return True
        ready = self._ready(now, self._least(pages=pages), 1)
        return bool(ready) and self._economy.held_until(ready[0].head, now) is None

    def _lease_ready(self, now: float, *, pages: bool) -> ChunkedWork[Lease | None]:
        """Lease the best entry of those that are ready, after what is due was made ready, and a batch if need be."""
        begins = True
        if self._batches is None:
            with self._database.shared_transaction:
                lease, is_vain = self._lease_at_once(now, pages=pages)
            if lease is not None or is_vain:
                return lease
        while True:
            budget = RowBudget()
            with changing(self._database) as queue:
                if begins:
                    self._wake(now, budget, queue)
                    if not budget.is_spent:
                        begins = False
                        if self._batches and pages:
                            self._batches.refill(queue)
                may_be_page = pages and self.may_lease_pages()
                lease = None if begins else self._lease_best(now, budget, queue, pages=may_be_page)
            if lease is not None or not budget.is_spent:
                return lease
            yield

    def may_lease_pages(self) -> bool:
        """Return whether the limit on pages that the processes of a run share lets another one be leased."""
        return self.shared_run is None or self.shared_run.pages_left() > 0

    # ----------------------------------------------------------------------- one transaction

    def _lease_at_once(self, now: float, *, pages: bool) -> tuple[Lease | None, bool]:
        """Lease the best ready entry if nothing has to be written before. Return the lease, and without one, whether
        it is in vain to write first: nothing is ready, or what is waits for better pages.

        The host's row is locked, and hosts that other processes lease at this moment are passed over.
        """
        if self.shared_run is not None and not self.shared_run.is_far_from_limit():
            return None, False
        if self._connection.execute(sql.DUE, {"now": now, "most": 1}).fetchone():
            return None, False
        wanted = {"now": now, "least": self._least(pages=pages)}
        row = self._connection.execute(sql.LOCK_READY_HOST, wanted).fetchone()
        if row is None:
            return None, True
        host = _Ready(*row)
        is_held = self._economy.held_until(host.head, now) is not None
        (head,) = self._heads(host.id, 1)
        if self._reason(head, host.pages):
            return None, False
        return (None, True) if is_held else (self._take(host, head, now), False)

    def _wake(self, now: float, budget: RowBudget, queue: Queue) -> None:
        """Make ready what is due: hosts whose back-off ended, expired leases, failed URLs to be tried again.

        What is left when the budget is spent stays due.
        """
        while not budget.is_spent:  # a host whose queue was empty becomes due with its first URL
            due = self._connection.execute(sql.DUE, {"now": now, "most": budget.left}).fetchall()
            if not due:
                return
            for kind, row_id in due:
                if kind == "rest":
                    self._connection.execute(sql.WRITE_HOST, {"host": row_id, "parked": 0})
                elif kind == "lease":
                    self._connection.execute(sql.WRITE_HOST, {"host": row_id, "lease_until": 0})
                else:
                    queue.change(row_id, State.WAITING)
            queue.write()
            budget.spend(len(due))

    def _lease_best(self, now: float, budget: RowBudget, queue: Queue, *, pages: bool) -> Lease | None:
        """Lease the best ready entry, after refusing or putting last those before it that caps or budgets exclude.

        None also when the budget is spent by these: the next transaction goes on with the rest.
        """
        least = self._least(pages=pages)
        while not budget.is_spent:
            ready = self._ready(now, least, 1)
            if not ready:
                return None
            (host,) = ready
            (head,) = self._heads(host.id, 1)
            is_late = head.tier == LATE_TIER  # how many come to wait there is known when all else was served
            if is_late and self._economy.held_until(host.head, now) is not None:
                return None
            if self._reason(head, host.pages):
                self._set_aside(host, self._ready(now, least, 2)[1:], least, budget, queue)
                continue
            if not is_late and self._economy.held_until(host.head, now) is not None:
                return None
            return self._take(host, head, now)
        return None

    def _set_aside(self, host: _Ready, others: Sequence[_Ready], least: int, budget: RowBudget, queue: Queue) -> None:
        """Refuse or put last what caps or budgets exclude by now at the head of a host's queue, as long as the host
        comes first."""
        first_of_others = min((other.place(other.best_tier, other.best_score) for other in others), default=None)
        refused, last = list[tuple[int, str, int, str, int | None]](), list[_Head]()
        heads = self._heads(host.id, min(budget.left, _READ_AT_ONCE))
        for head in heads:
            if (head.tier == LATE_TIER) != (heads[0].tier == LATE_TIER):
                break  # the lowest tier comes when all else was served
            is_next = head.tier >= least and (
                first_of_others is None or host.place(head.tier, head.score) < first_of_others
            )
            reason = self._reason(head, host.pages) if is_next or not (refused or last) else ""
            if not reason:
                break
            if reason == PATTERN_SPENT and head.tier != LATE_TIER:
                last.append(head)
            else:
                refused.append((head.id, head.purpose, head.tier, reason, head.sub_queue))
        if refused:
            queue.refuse(host.id, refused)
        if last:
            self._budgets.count_late(key for head in last if (key := head.pattern) is not None)
            queue.put_last(host.id, [(head.id, head.purpose, head.tier, head.key) for head in last])
        budget.spend(len(refused) + len(last))

    def _ready(self, now: float, least: int, most: int) -> list[_Ready]:
        wanted = {"now": now, "least": least, "most": most}
        return [_Ready(*row) for row in self._connection.execute(sql.READY_HOSTS, wanted).fetchall()]

    def _heads(self, host_id: int, most: int) -> list[_Head]:
        rows = self._connection.execute(sql.HEADS, {"host": host_id, "most": most}).fetchall()
        return [_Head(*row) for row in rows]

    def _reason(self, head: _Head, of_host: int) -> str:
        """Return why caps or budgets exclude a URL by now, '' when they do not; `of_host`: pages seen of its host."""
        if head.purpose == Purpose.PAGE:
            return self._page_reason(head, of_host)
        if head.kind is None:
            return FORGOTTEN
        if not head.never_valid:
            return ""
        return self._budgets.probe_reason(head.kind, head.endpoint_url, head.site, head.key, head.tier)

    def _page_reason(self, head: _Head, of_host: int) -> str:
        if head.depth == 0:  # seeds are never left out
            return ""
        url = stored_url(head.address)
        queries = 0
        if "?" in head.address:
            row = self._connection.execute(sql.QUERIES_SEEN, {"key": group_key(query_group(url))}).fetchone()
            queries = row[0] if row else 0
        reason = self._limits.cap_reason(url.host, head.key, head.depth, of_host, queries)
        if reason or head.tier >= HARVEST_TIER or head.revisit_s is not None:
            return reason
        return self._budgets.page_reason(url, head.id, head.key, head.tier)

    def _take(self, host: _Ready, head: _Head, now: float) -> Lease:
        """Lease a host for the head of its queue."""
        state = HostState(*host[1:11])
        until = now + lease_of_s(state, self._settings)
        self._connection.write(sql.LEASE, {"host": host.id, "until": until, "url": head.id, "owner": self._owner})
        return Lease(self._entry(head, now), state, host.lease_token + 1, until, host.waiting > 1)

    def _entry(self, head: _Head, now: float) -> Entry:
        candidate = head.candidate() if head.purpose == Purpose.PROBE else None
        since = now - self._settings.not_modified_s
        row = self._connection.execute(sql.VALIDATORS, {"url": head.id, "after": since}).fetchone()
        is_watched = head.every_s is not None
        is_light = is_watched and head.whole_at is not None and now - head.whole_at < DAY_S
        turn = turn_at(head.every_s, now) + head.id if head.every_s is not None else 0
        is_whole = is_watched and (not is_light or turn % _WHOLE_AMONG == 0)
        return Entry(
            head.id,
            Purpose(head.purpose),
            stored_url(head.address),
            head.depth,
            Rank(head.tier, head.score),
            head.attempts,
            head.hops,
            candidate,
            Validators(*row) if row and not is_whole else None,
            head.kills,
            head.every_s,
            is_light,
        )

    # ----------------------------------------------------------------------- other work on leases

    def ready_at(self, now: float, *, pages: bool = True) -> float | None:
        """Return when the next entry can be leased; None when nothing waits.

        A time in the past means at once; for a host that others have leased it is the end of their lease. While the
        best ready page is held, it is the time of better ones.
        """
        least = self._least(pages=pages)
        ready = self._ready(now, least, 1)
        held_until = self._economy.held_until(ready[0].head, now) if ready else None
        if held_until is not None:
            rows: list[Sequence[float | None]] = [(held_until,)]
        elif least == _ANY_TIER:
            rows = [self._connection.execute(sql.NEXT_READY_ANY).fetchone()]
        else:
            rows = [self._connection.execute(sql.NEXT_READY, {"least": least}).fetchone()]
        retried = sql.NEXT_RETRIED if pages else sql.NEXT_RETRIED_PROBE
        rows.append(self._connection.execute(retried, {"least": self._least_tier}).fetchone() or ())
        return min((at for row in rows for at in row if at is not None), default=None)

    def waiting_hosts(self, *, pages: bool = True) -> list[WaitingHost]:
        """Return the hosts that have URLs without a failed visit, the first to be ready first.

        Hosts that failed `backoff_after` times in a row are left out: they are taken for dead.
        """
        values = {"least": self._least(pages=pages), "dead_after": self._settings.backoff_after}
        rows = self._connection.execute(sql.WAITING_HOSTS, values).fetchall()
        return [WaitingHost(*row) for row in rows]

    def pages_wait(self, now: float) -> bool:
        """Return whether a page waits, or is under way, that was never visited, at a host for which a run would wait:
        not a dead one, nor one that rests for longer than its patience."""
        until = now + self._settings.patience_s
        asked = {"until": until, "dead_after": self._settings.backoff_after}
        return self._connection.execute(sql.ANY_PAGE, asked).fetchone() is not None

    def others_at_work(self) -> bool:
        """Return whether other processes have leased hosts with queued URLs; for a process that has leased none."""
        return self._connection.execute(sql.ANY_LEASED).fetchone() is not None

    def end(self, hosts: Iterable[tuple[int, str]], now: float, queue: Queue, *, killed: bool = False) -> None:
        """End leases of these hosts (id, name) whose visits were never settled.

        The host's delay begins now, since its last request may just have been answered; `killed`: that request may even
        be under way, so the delay begins `Settings.at_work_s` later. What the process read may have got it killed, so
        the kill counts for all that was under way: first they are read in bounded processes, then each is visited
        alone, and after two kills alone it fails (`killed`), because it would stop every process for ever.
        """
        hosts = list(hosts)
        under_way_s = self._settings.at_work_s if killed else 0.0
        for host_id, name in hosts:
            freed = {
                "host": host_id,
                "now": now,
                "delay_s": self._settings.delay_of_s(name),
                "most_s": self._settings.max_crawl_delay_s,
                "under_way_s": under_way_s,
            }
            self._connection.execute(sql.FREE_UNSETTLED, freed)
            self._connection.execute(sql.PARK, {"host": host_id, "later": now + PARK_S})
            if killed:
                self._count_kill(host_id, queue, alone=len(hosts) == 1)

    def _count_kill(self, host_id: int, queue: Queue, *, alone: bool) -> None:
        """Count a kill for the URL that a host was leased for, and set the URL aside when it was the last."""
        for url_id, kills in self._connection.execute(sql.COUNT_KILLED, {"host": host_id, "alone": alone}).fetchall():
            if kills >= MOST_KILLS:
                queue.change(url_id, State.FAILED, KILLED)
                self._connection.execute(sql.WRITE_URL, {"url": url_id, "revisit_at": None})
                self._connection.execute(sql.FORGET_DUE, {"url": url_id})
                told = json.loads(self._database.meta(KILLED) or "[]")
                self._database.write_meta(KILLED, json.dumps([*told, url_id][-_MOST_TOLD_KILLERS:]))

    def _least(self, *, pages: bool) -> int:
        """Return the lowest tier that may be leased."""
        return self._least_tier if pages else max(PROBE_TIER, self._least_tier)


# --------------------------------------------------------------------------- batches


_Row = tuple[int, int, float, int]
"""(id, tier, score, host)"""


class Batches:
    """Serves the best N waiting pages as a batch (best-N-first); the links that they add wait for the next batch.

    A batch is a tier above every strategy's own: its pages are served before all others, and the next batch is made
    only when none of them waits or is leased. The tier is stored with the URLs, so a killed crawl continues with its
    batch. A host that backs off does not delay the next batch: a batch is used up when all its remaining pages are on
    such hosts. Works inside the caller's transaction.
    """

    def __init__(self, connection: Connection, stride: int) -> None:
        self._connection = connection
        self._stride = stride

    def refill(self, queue: Queue) -> None:
        """Make the next batch when the last one is used up: by tier, then score, then the first seen."""
        if self._connection.execute(sql.BATCH_GOES_ON, {"tier": BATCH_TIER}).fetchone():
            return
        probing = self._connection.execute(sql.COUNT_HEADS, {"tier": PROBE_TIER}).fetchone()[0]
        # The best N pages are on hosts whose best page is among the best N; a probe at a queue's head hides that page's
        # rank.
        hosts = self._connection.execute(sql.BEST_HOSTS, {"most": self._stride + probing}).fetchall()
        best = heapq.merge(*map(self._pages, hosts), key=lambda row: (-row[1], -row[2], row[0]))
        for url_id, tier, score, host_id in list(islice(best, self._stride)):
            self._connection.execute(sql.WRITE_URL, {"url": url_id, "tier": BATCH_TIER})
            queue.counters.move("page", (State.WAITING, tier), (State.WAITING, BATCH_TIER), None)
            queue.enter(host_id, Rank(BATCH_TIER, score), waiting=0)
        queue.write()

    def _pages(self, host: tuple[int, int | None]) -> Iterator[_Row]:
        """Yield a host's waiting pages, the best first, without the one under way."""
        host_id, leased_id = host
        best = {"host": host_id, "most": self._stride + 1}  # one of them may be under way
        for url_id, tier, score in self._connection.execute(sql.BEST_PAGES, best):
            if url_id != leased_id:
                yield url_id, tier, score, host_id
