"""Decide whether the best page that is ready is read now, or waits for a better one at a host that is busy or rests."""

from __future__ import annotations

import math
from typing import NamedTuple

from geocrawl.model import BATCH_TIER, LATE_TIER, Rank
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.hosts import PARK_S

MOMENT_S = 10.0
"""The longest wait for one lease of a host."""
REST_S = 600.0
"""The longest rest of a host for which pages are held."""
_HALVES_S = 60.0
"""A page that is to be had so much later counts half."""
_LOOK_LATE_S = 1.0
"""Pause before looking again whether the last lease above the lowest tier has ended."""
LOOK_S = 0.1
"""Pause before looking again whether another process has ended its lease: nothing wakes this one."""


_MOST_PROBING = 32
"""Number of hosts with a probe before their pages whose best page is looked at."""


class _Busy(NamedTuple):
    """A host that is leased, or was a moment ago."""

    token: int
    """The number that tells the lease from others of the host."""
    since: float
    """When the lease was first seen, or earlier: by what the leases before it have used up of the host's moment."""
    ended: float | None = None
    """When the host was first seen free again."""

    def used_s(self, now: float) -> float:
        """Return how much of the host's moment is used up; it comes back while the host is free."""
        if self.ended is None:
            return now - self.since
        return max(min(self.ended - self.since, MOMENT_S) - (now - self.ended), 0.0)

    def freed(self, now: float) -> _Busy:
        """Return the host as one that is seen free."""
        return self._replace(ended=now) if self.ended is None else self

    def leased(self, token: int, now: float) -> _Busy:
        """Return the host as one that is seen with this lease."""
        return self if token == self.token else _Busy(token, now - self.freed(now).used_s(now))


class _Better(NamedTuple):
    """A page that may be had soon."""

    rank: Rank
    until: float | None
    """When to look again, for a page of a leased host."""


class Economy:
    """Holds back pages that promise much less than the best that waits at a busy host or one that rests for a moment.

    A host is asked by one worker at a time. Without a bar, every other worker would read whatever other hosts offer,
    however little it promises, and spend the page budget on it.

    - Of a strategy whose scores are expected yields (`by_yield`) a page is taken when its score is at least the share
      `economy` of the best one's. So that waiting costs no pages, hosts that rest for minutes count, too: a page that
      is to be had in a minute counts half, one in nine minutes a tenth (`promise`).
    - The rest of a batch (best-N-first) comes before all else, in any order.
    - By depth (bfs): a page is taken when none of lesser depth waits. Any other: when none of a higher tier waits.
    - A page of the lowest tier is taken when nothing else waits that a run would wait for.
    - A host counts as resting for a moment while it is ready within `hosts.PARK_S`, and as busy for `MOMENT_S` after
      its lease was first seen. One that is leased again at once has only what is left of that moment, which comes
      back while the host is free. So nothing is held for long by a slow host, nor by a process that was killed; hosts
      that failed `backoff_after` times in a row are taken for dead and hold nothing.

    The best page is read by indexes: the first of the hosts that are not leased, those behind a few probes, and one
    page of each leased host whose head promises enough. So a look costs the same however many hosts wait.
    """

    def __init__(
        self, connection: Connection, settings: Settings, *, owner: str, by_yield: bool, by_depth: bool
    ) -> None:
        """`owner`: text of this process's leases. `by_yield`, `by_depth`: as in `ports.Strategy`. A crawl with less
        patience than a moment holds nothing."""
        self._connection = connection
        self._owner = owner
        self._settings = settings
        self._share = settings.economy if settings.patience_s >= MOMENT_S else 0.0
        self._by_yield = by_yield
        self._by_depth = by_depth
        self._busy: dict[int, _Busy] = {}
        """By host."""

    def held_until(self, rank: Rank, now: float) -> float | None:
        """Return when to look again whether the best ready entry, which is of this rank, may be leased; None: it may be
        leased at once.

        Everything but the time at which a lease was first seen is read from the database, because other processes
        change it.
        """
        if rank.tier == LATE_TIER:
            return self._waited_for(now)
        if not self._share or rank.tier > BATCH_TIER:
            return None
        more_than = rank.score / self._share if self._by_yield else -math.inf
        better = self._better(rank, more_than, now)
        if self._by_yield:
            better.append(_Better(Rank(rank.tier, self._promised(more_than, now)), None))
        if all(self._is_near(rank, known.rank) for known in better):
            return None
        row = self._connection.execute(sql.NEXT_BETTER, {"least": rank.tier, "score": rank.score}).fetchone()
        ends = [known.until for known in better if known.until is not None]
        return min((at for at in (*row, *ends) if at is not None), default=now + MOMENT_S)

    def _waited_for(self, now: float) -> float | None:
        """Return when to look again whether all but the lowest tier was served; None when it was.

        Hosts that a run would not wait for do not count: dead ones, and those that rest for longer than its patience.
        """
        settings = self._settings
        asked = {"least": LATE_TIER + 1, "until": now + settings.patience_s, "dead_after": settings.backoff_after}
        ready_at, is_leased = self._connection.execute(sql.WAITED_FOR, asked).fetchone()
        looks = [at for at in (ready_at, now + _LOOK_LATE_S if is_leased else None) if at is not None]
        return min(looks, default=None)

    def _is_near(self, rank: Rank, better: Rank) -> bool:
        if rank >= better:
            return True
        if self._by_yield and better.tier < BATCH_TIER:
            return rank.score >= self._share * better.score
        return rank.tier == better.tier and not self._by_depth

    def _promised(self, more_than: float, now: float) -> float:
        """Return the greatest promise of the pages at hosts that rest for minutes and score more; 0 without any."""
        settings = self._settings
        soon = {"now": now, "until": now + min(REST_S, settings.patience_s)}
        resting = {**soon, "tier": BATCH_TIER, "dead_after": settings.backoff_after, "more_than": more_than}
        rows = self._connection.execute(sql.RESTING, resting).fetchall()
        return max((promise(score, next_at - now) for score, next_at in rows), default=0.0)

    def _better(self, rank: Rank, more_than: float, now: float) -> list[_Better]:
        """Return the ranks of pages, among them that of the best one that may be had soon and scores more."""
        found: list[_Better] = []
        busy: dict[int, _Busy] = {}
        looked_at = {"tier": BATCH_TIER, "soon": now + PARK_S, "probing": _MOST_PROBING}
        looked_at |= {"at_tier": rank.tier, "at_score": rank.score, "more_than": more_than}
        for tier, score, host_id, token, owner in self._connection.execute(sql.BEST_PAGES_SOON, looked_at).fetchall():
            if host_id is None:
                found.append(_Better(Rank(tier, score), None))
                continue
            known = self._busy.get(host_id, _Busy(token, now)).leased(token, now)
            busy[host_id] = known
            if tier is not None and known.used_s(now) < MOMENT_S:
                # Nothing wakes this process when another one ends a lease.
                look_at = known.since + MOMENT_S
                look_at = look_at if owner == self._owner else min(look_at, now + LOOK_S)
                found.append(_Better(Rank(tier, score), look_at))
        freed = {host_id: known.freed(now) for host_id, known in self._busy.items() if host_id not in busy}
        self._busy = busy | {host_id: known for host_id, known in freed.items() if known.used_s(now)}
        return found


def promise(score: float, rest_s: float) -> float:
    """Return what a page of this score is worth now that is to be had after a rest; a moment costs nothing."""
    return score / (1.0 + max(rest_s - PARK_S, 0.0) / _HALVES_S)
