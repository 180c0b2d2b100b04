"""Keep the database bounded over the years: roll up old probes, and keep the database within a limit on its size.

Answers for robots.txt are deleted when they have expired, those with rules 30 days later. Above the limit, what a
request brings back and what is history is deleted first: the other answers for robots.txt; sums of probes, the oldest
first; probes, but for the last two of each endpoint; changes of descriptions, the oldest first; layers of services all
of whose endpoints are gone, which a next valid answer brings back. Then waiting pages, those of the lowest tier and of
these the oldest; then kept pages, the lowest scores first; then thumbnails, the oldest first. Otherwise the catalogue
is never touched. SQLite fills the space that becomes free before the file grows again; the file itself does not shrink.

What is to go is found without the write lock and deleted in short transactions (`database/steps.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import (
    BindParameter,
    Select,
    Table,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from geocrawl.model import Purpose, State
from geocrawl.model.health import DAY_S
from geocrawl.store.catalogue.index.upkeep import merge_segments
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import (
    CHANGE,
    ENDPOINT,
    HOST,
    LAYER,
    PAGE_STORE,
    PROBE,
    PROBE_SUM,
    ROBOTS,
    SERVICE,
    THUMBNAIL,
    URL,
)
from geocrawl.store.database.steps import ChunkedWork, batches, delete_rows, run
from geocrawl.store.frontier.counters import read_totals
from geocrawl.store.frontier.page_store import drop_page
from geocrawl.store.frontier.politeness import EXPIRED_ROBOTS
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.upkeep.forget import finish_forgetting
from geocrawl.store.upkeep.roll_up import RollUp

NO_SPACE = "no-space"
"""Reason of a page that left the queue because the database was too large."""

_LIMIT: BindParameter[int] = bindparam("most")


class Retention:
    """Rolls up probes that are too old to be kept singly, and deletes what exceeds the limit on the database's size."""

    def __init__(self, database: Database, *, keep_days: int, max_bytes: int = 0) -> None:
        """`keep_days`: age at which probes are rolled up. `max_bytes`: limit on the database's size; 0: no limit."""
        self._connection = database.connection
        self._database = database
        self._roll_up = RollUp(database, keep_days * DAY_S)
        self._room = Room(database, max_bytes) if max_bytes and database.connection.limits_size else None

    def tidy(self, now: float) -> dict[str, int]:
        """Roll up old probes, and delete what exceeds the limit. Returns counts of deleted rows by name."""
        return run(self.tidy_in_steps(now))

    def tidy_in_steps(self, now: float) -> ChunkedWork[dict[str, int]]:
        """Do what `tidy` does in steps, each at most one transaction."""
        yield from finish_forgetting(self._database)
        probes = yield from self._roll_up.steps(now)
        expired = yield from self._drop_robots(now)
        yield from merge_segments(self._database)
        self._connection.advise()
        gone = {"probes": probes, **({"expired robots.txt": expired} if expired else {})}
        return {**gone, **((yield from self._room.make()) if self._room else {})}

    def _drop_robots(self, now: float) -> ChunkedWork[int]:
        count = 0
        for batch in batches(self._connection.execute(EXPIRED_ROBOTS, {"before": now, "most": _MOST}).fetchall()):
            with self._database.transaction:
                count += delete_rows(self._connection, ROBOTS, batch)
            yield
        return count


# --------------------------------------------------------------------------- a limit on the size

_TARGET = 0.95
"""Share of the limit down to which rows are deleted, so that the limit is not reached again at once."""
_PAGES = 1_000
"""Pages deleted in one transaction."""
_MOST = 100_000
"""Rows of one kind deleted a call: other work wants its turn, too."""
_LEASED = select(HOST.c.lease_url).where(HOST.c.lease_until > 0, HOST.c.lease_url.is_not(None))
# Waiting pages that were never visited and are not leased. Seeds stay.
_DROPPABLE = (
    select(URL.c.id, URL.c.host_id, URL.c.tier, URL.c.depth, URL.c.first_seen, URL.c.sub_queue)
    .where(URL.c.state == State.WAITING, URL.c.purpose == Purpose.PAGE, URL.c.depth > 0, URL.c.settled_at.is_(None))
    .where(URL.c.id.not_in(_LEASED))
    .order_by(URL.c.id)
)
_WORST = _DROPPABLE.where(URL.c.tier == bindparam("tier"), URL.c.id > bindparam("after")).limit(_LIMIT)
# Those of the found pages that still wait.
_STILL_WORST = _DROPPABLE.where(in_list(URL.c.id, "ids"))
_ADD_PAGE = insert(URL)
_OLDEST_ROBOTS = select(ROBOTS.c.origin).order_by(ROBOTS.c.fetched_at).limit(_LIMIT)
_place = func.row_number().over(partition_by=PROBE.c.endpoint_id, order_by=(PROBE.c.at.desc(), PROBE.c.id.desc()))
_PLACED = select(PROBE.c.id, PROBE.c.at, _place.label("place")).subquery("placed")
_OLDEST_PROBES = select(_PLACED.c.id).where(_PLACED.c.place > 2).order_by(_PLACED.c.at, _PLACED.c.id).limit(_LIMIT)
_sum = PROBE_SUM.c
_OLDEST_SUMS = select(_sum.endpoint_id, _sum.start).order_by(_sum.start, _sum.endpoint_id).limit(_LIMIT)
_OLDEST_CHANGES = select(CHANGE.c.id).order_by(CHANGE.c.at, CHANGE.c.id).limit(_LIMIT)
_OLDEST_IMAGES = select(THUMBNAIL.c.endpoint_id).order_by(THUMBNAIL.c.at).limit(_LIMIT)
_WORST_KEPT = select(PAGE_STORE.c.url_id).order_by(PAGE_STORE.c.score, PAGE_STORE.c.url_id).limit(_LIMIT)
_IS_GONE = ~exists().where(ENDPOINT.c.service_id == SERVICE.c.id, ENDPOINT.c.health != "gone")
# Layers of services all of whose endpoints are gone, those first that were valid long ago.
_GONE_LAYERS = (
    select(LAYER.c.service_id, LAYER.c.position)
    .select_from(SERVICE.join(LAYER, LAYER.c.service_id == SERVICE.c.id))
    .where(_IS_GONE)
    .order_by(SERVICE.c.last_ok, SERVICE.c.id, LAYER.c.position)
    .limit(_LIMIT)
)
# Without its fingerprint a service is described again by its next valid answer.
_FORGET_FINGERPRINT = (
    update(SERVICE).where(SERVICE.c.id == bindparam("service"), _IS_GONE).values(fingerprint=literal_column("''"))
)

_Waiting = tuple[int, int, int, int, float, int | None]
"""A row of `_WORST`."""
_Deletions = Iterator[Callable[[], int]]
"""Each deletes some rows inside the caller's transaction, and returns how many."""


class Room:
    """Deletes rows when the database exceeds its limit."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._connection = database.connection
        self._max_bytes = max_bytes

    def make(self) -> ChunkedWork[dict[str, int]]:
        """Delete rows until the database is within its limit or nothing is left to delete. Returns counts by name."""
        dropped: dict[str, int] = {}
        if self._used() <= self._max_bytes:
            return dropped
        kinds: tuple[tuple[str, Callable[[], _Deletions]], ...] = (
            ("robots.txt dropped", lambda: self._rows(ROBOTS, _OLDEST_ROBOTS, 500)),
            ("sums of probes dropped", lambda: self._rows(PROBE_SUM, _OLDEST_SUMS)),
            ("probes dropped", lambda: self._rows(PROBE, _OLDEST_PROBES)),
            ("changes dropped", lambda: self._rows(CHANGE, _OLDEST_CHANGES)),
            ("layers of gone services dropped", self._layers),
            ("waiting pages dropped", self._waiting),
            ("kept pages dropped", self._kept),
            ("thumbnails dropped", lambda: self._rows(THUMBNAIL, _OLDEST_IMAGES, 200)),
        )
        for name, deletions in kinds:
            for deletion in deletions():
                if self._used() <= self._max_bytes * _TARGET:
                    return dropped
                with self._database.transaction:
                    count = deletion()
                if count:
                    dropped[name] = dropped.get(name, 0) + count
                yield
        return dropped

    def _used(self) -> int:
        return self._connection.size().used_bytes

    def _rows(self, table: Table, oldest: Select[Any], size: int = 0) -> _Deletions:
        for batch in batches(self._connection.execute(oldest, {"most": _MOST}).fetchall(), size):
            yield partial(delete_rows, self._connection, table, batch)

    def _layers(self) -> _Deletions:
        for batch in batches(self._connection.execute(_GONE_LAYERS, {"most": _MOST}).fetchall()):
            yield partial(self._drop_layers, batch)

    def _drop_layers(self, rows: Sequence[tuple[int, int]]) -> int:
        gone = {
            service
            for service in dict.fromkeys(service for service, _ in rows)
            if self._connection.execute(_FORGET_FINGERPRINT, {"service": service}).rowcount
        }
        return delete_rows(self._connection, LAYER, [row for row in rows if row[0] in gone])

    def _waiting(self) -> _Deletions:
        left = _MOST
        for tier in sorted(read_totals(self._connection).get((Purpose.PAGE, State.WAITING), {})):
            values = {"tier": tier, "after": -(2**63), "most": _PAGES}
            while left > 0 and (rows := self._connection.execute(_WORST, values).fetchall()):
                yield partial(self._drop_pages, [row[0] for row in rows])
                values["after"], left = rows[-1][0], left - len(rows)

    def _drop_pages(self, ids: Sequence[int]) -> int:
        rows: list[_Waiting] = self._connection.execute(_STILL_WORST, {"ids": ids}).fetchall()
        queue = Queue(self._connection)
        left: dict[int, int] = {}
        delete_rows(self._connection, URL, [(row[0],) for row in rows])
        for url_id, host_id, tier, depth, first_seen, sub_queue in rows:
            self._connection.execute(_ADD_PAGE, _empty_page(url_id, host_id, depth, first_seen))
            queue.counters.move("page", (State.WAITING, tier), (State.REFUSED, 0), sub_queue)
            queue.counters.refuse(NO_SPACE, 1)
            left[host_id] = left.get(host_id, 0) + 1
        for host_id, count in left.items():
            queue.refresh(host_id, left=count)
        queue.write()
        return len(rows)

    def _kept(self) -> _Deletions:
        for batch in batches(self._connection.execute(_WORST_KEPT, {"most": _MOST}).fetchall(), 100):
            yield partial(self._drop_kept, batch)

    def _drop_kept(self, rows: Sequence[tuple[int]]) -> int:
        return sum(drop_page(self._connection, url_id) > 0 for (url_id,) in rows)


def _empty_page(url_id: int, host_id: int, depth: int, first_seen: float) -> dict[str, object]:
    """Return the empty row in a page's place, so that its id, to which links of other pages refer, never names another
    page. (Making the row itself smaller would leave holes that nothing else can fill.)"""
    return {
        **{"id": url_id, "key": -url_id, "address": "http://dropped.invalid/", "purpose": Purpose.PAGE},
        **{"host_id": host_id, "state": State.REFUSED, "reason": NO_SPACE},
        **{"depth": depth, "tier": 0, "score": 0, "first_seen": first_seen},
    }
