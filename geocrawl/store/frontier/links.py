"""Links on their way into the frontier: known or new, how deep, how high, and what follows from that.

Most links of a page were seen before (navigation repeats on every page of a site), so what is known of a URL is kept in
a bounded memory and such a link costs no statement. Depth only falls and rank only rises in the database, so a link
that is no better than what is remembered is no better than what stands there, whatever other processes wrote meanwhile.
"""

from __future__ import annotations

import heapq
import sqlite3
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from geocrawl.model import Purpose, Rank, RankedLink, State, Url
from geocrawl.store.cache import TwoGenerations
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import Budgets
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.lifecycle import CANDIDATE, arrival_state
from geocrawl.store.keys import group_key, is_over_cap, page_key
from geocrawl.urls import RECORDS, query_group

MAX_ANCHOR_CHARS = 200
_MEMORY = 100_000
"""Links remembered, twice that at most: about 200 bytes each."""
_LOWEST = Rank(-(2**31), float("-inf"))


@dataclass(frozen=True, slots=True)
class Limits:
    """What is refused or set aside as a link arrives."""

    max_depth: int
    max_queries_per_path: int
    max_pages_of: Callable[[str], int]
    """Of a host, by its name."""


class Source(NamedTuple):
    """Where links come from."""

    id: int | None
    """The page; None for a person."""
    depth: int
    rank: Rank
    hops: int
    at: float


class _Known(NamedTuple):
    id: int
    depth: int
    rank: Rank


class Links:
    """Takes links in. Every method works inside the caller's transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        hosts: Hosts,
        tally: Counters,
        limits: Limits,
        budgets: Budgets,
        *,
        by_depth: bool,
    ) -> None:
        self._connection = connection
        self._hosts = hosts
        self._tally = tally
        self._limits = limits
        self._budgets = budgets
        self._by_depth = by_depth
        self._memory: TwoGenerations[int, _Known] = TwoGenerations(_MEMORY)
        self.added = 0
        """Pages taken in for the first time and not refused, since the transaction began."""

    def clear(self) -> None:
        """Forget what may have been undone, or ranked anew."""
        self._memory.clear()

    def arrive(self, links: Iterable[RankedLink], source: Source) -> list[int]:
        """Take in the links of a page; returns the id of each, negative for one that is as deep as its source."""
        ids = []
        remembered = self._memory.get
        # Where the score follows the depth, only the tier is the link's own.
        best_of = 1 if self._by_depth else 2
        for ranked in links:
            same = ranked.same_depth
            depth = source.depth if same else source.depth + 1
            rank = max(ranked.rank, source.rank) if same else ranked.rank
            # Remembered by Python's hash, not by the text: 64 bits distinguish them as well as a key does, in less
            # memory.
            known = remembered(hash(ranked.link.url.identity))
            if known is None or known.depth > depth or (known.rank[:best_of] < rank[:best_of]):
                known = self.take(ranked, depth, rank, source)
            ids.append(-known.id if same else known.id)
        return ids

    def take(
        self, ranked: RankedLink, depth: int, rank: Rank, source: Source, *, candidate_of: int | None = None
    ) -> _Known:
        """Take in one link. `candidate_of`: the endpoint that its address may be; then it waits for that one's
        probe."""
        if self._by_depth:
            rank = Rank(rank.tier, float(-depth))
        url = ranked.link.url
        key = page_key(url.identity)
        row = self._connection.execute(sql.FIND_URL, (key,)).fetchone()
        if row is None:
            known = _Known(self._add(ranked, key, depth, rank, source, candidate_of), depth, rank)
        else:
            known = _Known(row[0], row[1], Rank(row[2], row[3]))
            if depth < known.depth or rank > known.rank:
                known = self._improve(known, ranked, depth, rank, source)
        self._memory.put(hash(url.identity), known)
        return known

    def _add(
        self, ranked: RankedLink, key: int, depth: int, rank: Rank, source: Source, candidate_of: int | None
    ) -> int:
        url = ranked.link.url
        host_id = self._hosts.find(url.host)
        reason = ranked.refused or (CANDIDATE if candidate_of is not None else "") or self.count(url, key, depth)
        state = arrival_state(depth, self._limits.max_depth, reason)
        if state is State.REFUSED:
            self._tally.refuse(reason, 1)
        added = self._connection.execute(
            sql.ADD_URL,
            (
                key,
                url.address,
                Purpose.PAGE,
                host_id,
                state,
                reason or None,
                depth,
                *rank,
                source.id,
                ranked.link.anchor[:MAX_ANCHOR_CHARS] or None,
                ranked.link.where,
                source.hops + 1 if _is_hop(ranked, source) else 0,
                candidate_of,
                source.at,
            ),
        )
        self._tally.add("page", state, rank.tier, 1)
        if state is State.WAITING:
            self._hosts.enter(host_id, rank)
        self.added += not reason
        assert added.lastrowid is not None
        return added.lastrowid

    # ----------------------------------------------------------------------- caps

    def count(self, url: Url, key: int, depth: int) -> str:
        """Count a new page towards the caps; the reason to leave it out, '' for none. Seeds are never left out."""
        pages = self._hosts.see_page(url.host)
        queries = 0
        if "?" in url.identity:
            row = self._connection.execute(sql.SEE_QUERY, (group_key(query_group(url)),)).fetchone()
            queries = row[0]
        reason = self.cap_reason(url.host, key, depth, pages, queries)
        return reason or (self._budgets.arrival_reason(url) if depth else "")

    def cap_reason(self, host: str, key: int, depth: int, pages: int, queries: int) -> str:
        """Why a page is left out, by its key and how many were seen of its host and of its path."""
        if depth == 0:
            return ""
        if is_over_cap(key, queries, self._limits.max_queries_per_path):
            return "trap:queries"
        if is_over_cap(key, pages, self._limits.max_pages_of(host)):
            return "trap:host-pages"
        return ""

    # ----------------------------------------------------------------------- shorter ways and better links

    def _improve(self, known: _Known, ranked: RankedLink, depth: int, rank: Rank, source: Source) -> _Known:
        if rank > known.rank and known.id != source.id:
            anchor = ranked.link.anchor[:MAX_ANCHOR_CHARS] or None
            self._connection.execute(sql.WRITE_FOUND, (known.id, source.id, anchor, ranked.link.where))
        self.move(known.id, depth, rank)
        return _Known(known.id, min(depth, known.depth), max(rank, known.rank))

    def move(self, url_id: int, depth: int, rank: Rank) -> None:
        """A way of this depth and a link of this rank lead to a URL: it, and all that visited pages reach from it,
        follow.

        A wave in order of depth (Dijkstra's algorithm with steps of 0 and 1), so each URL changes at most once.
        """
        wave = [(depth, url_id, rank)]
        while wave:
            depth, url_id, rank = heapq.heappop(wave)
            moved = self._move_one(url_id, depth, rank)
            if moved is None:
                continue
            depth, rank, nearer = moved
            row = self._connection.execute(sql.READ_OUTLINKS, (url_id,)).fetchone()
            for target in unpack_links(row[0]) if row else ():
                # A redirect's target stands as deep and as high as its source; other links keep their own rank.
                if target < 0:
                    heapq.heappush(wave, (depth, -target, rank))
                elif nearer:
                    heapq.heappush(wave, (depth + 1, target, _LOWEST))

    def _move_one(self, url_id: int, depth: int, rank: Rank) -> tuple[int, Rank, bool] | None:
        """Write a URL's new place; when it was visited, returns that and whether it is nearer, so that its links
        follow."""
        row = self._connection.execute(sql.PLACE, (url_id,)).fetchone()
        purpose, state, old_depth, tier, score, host_id, _ = row
        old = Rank(tier, score)
        depth, rank = min(depth, old_depth), max(rank, old)
        if self._by_depth and purpose == Purpose.PAGE:
            rank = Rank(rank.tier, float(-depth))
        if (depth, rank) == (old_depth, old):
            return None
        to = State.WAITING if state == State.TOO_DEEP and depth <= self._limits.max_depth else State(state)
        self._connection.execute(sql.MOVE, (url_id, depth, *rank, to))
        if to is State.WAITING:
            self._tally.add(purpose, state, tier, -1)
            self._tally.add(purpose, to, rank.tier, 1)
            if state == State.TOO_DEEP:
                self._hosts.enter(host_id, rank)
            else:
                self._hosts.raise_head(host_id, rank)
        return (depth, rank, depth < old_depth) if to is State.VISITED else None


def _is_hop(ranked: RankedLink, source: Source) -> bool:
    """Whether a redirect led here: a catalogue's next page is as deep as the one before, but not on its way."""
    return ranked.same_depth and source.id is not None and ranked.link.where != RECORDS


def pack_links(ids: list[int]) -> bytes:
    """Ids as they stand in `outlinks`."""
    return struct.pack(f"<{len(ids)}i", *ids)


def unpack_links(data: bytes) -> tuple[int, ...]:
    """The ids of `pack_links`."""
    return struct.unpack(f"<{len(data) // 4}i", data)
