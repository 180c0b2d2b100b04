"""Keep the database bounded over the years: delete old probes, but not the health that follows from them, and keep the
database within a limit on its size.

Answers for robots.txt are deleted when they have expired. Above the limit, what a request brings back and what is
history is deleted first: the other answers for robots.txt; probes, but for the last two of each endpoint; changes of
descriptions, the oldest first; layers of services all of whose endpoints are gone, which a next valid answer brings
back. Then waiting pages, those of the lowest tier and of these the oldest; then kept pages, the lowest scores first;
then thumbnails, the oldest first. Otherwise the catalogue is never touched. SQLite fills the space that becomes free
before the file grows again; the file itself does not shrink.

What is to go is found without the write lock and deleted in short transactions (`engine/steps.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from geocrawl.model import Purpose, State
from geocrawl.model.health import DAY_S
from geocrawl.store.engine.clauses import listed
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import ChunkedWork, batches, run
from geocrawl.store.frontier.counters import read_totals
from geocrawl.store.frontier.page_store import drop_page
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.maintenance.forget import finish_forgetting
from geocrawl.store.search.upkeep import merge_segments

NO_SPACE = "no-space"
"""Reason of a page that left the queue because the database was too large."""

_BATCH = 10_000
# The last two probes of an endpoint stay, however old.
_OLD = """
SELECT id FROM probe p WHERE at < ?1 AND id NOT IN (
  SELECT id FROM probe q WHERE q.endpoint_id = p.endpoint_id ORDER BY at DESC, id DESC LIMIT 2) LIMIT ?2"""
_UNREACHABLE_KEPT_S = 30 * DAY_S
"""Since when a robots.txt has been unreachable is kept for as long as that may count (`fetch.robots.UNREACHABLE_S`)."""
_EXPIRED = """SELECT origin FROM robots
WHERE expires_at < ? AND (status BETWEEN 0 AND 499 OR expires_at < ?) LIMIT ?"""
_KEYS = {"robots": ("origin",), "thumbnail": ("endpoint_id",), "layer": ("service_id", "position")}
"""Columns that name a row, where they are not `id`."""


class Retention:
    """Deletes probes that are too old to be kept, and rows that exceed the limit on the database's size."""

    def __init__(self, database: Database, *, keep_days: int, max_bytes: int = 0) -> None:
        """`keep_days`: age at which probes are deleted. `max_bytes`: limit on the database's size; 0: no limit."""
        self._connection = database.connection
        self._database = database
        self._keep_s = keep_days * DAY_S
        self._room = Room(database, max_bytes) if max_bytes and database.connection.limits_size else None

    def tidy(self, now: float) -> dict[str, int]:
        """Delete old probes, at most 10,000, and what exceeds the limit. Returns counts of deleted rows by name."""
        return run(self.tidy_in_steps(now))

    def tidy_in_steps(self, now: float) -> ChunkedWork[dict[str, int]]:
        """Do what `tidy` does in steps, each at most one transaction."""
        yield from finish_forgetting(self._database)
        probes = yield from self._delete("probe", _OLD, (now - self._keep_s, _BATCH))
        expired = yield from self._delete("robots", _EXPIRED, (now, now - _UNREACHABLE_KEPT_S, _BATCH))
        yield from merge_segments(self._database)
        self._connection.advise()
        gone = {"probes": probes, **({"expired robots.txt": expired} if expired else {})}
        return {**gone, **((yield from self._room.make()) if self._room else {})}

    def _delete(self, table: str, found_by: str, values: Sequence[object]) -> ChunkedWork[int]:
        """Delete the rows of a table whose row ids a statement finds; return how many."""
        count = 0
        for batch in batches(self._connection.execute(found_by, values).fetchall()):
            with self._database.transaction:
                count += delete_rows(self._connection, table, batch)
            yield
        return count


def delete_rows(connection: Connection, table: str, ids: Sequence[tuple[object, ...]]) -> int:
    """Delete the rows of a table that these values of `_KEYS` name; return how many there were."""
    condition = " AND ".join(f"{column} = ?" for column in _KEYS.get(table, ("id",)))
    return connection.executemany(f"DELETE FROM {table} WHERE {condition}", ids).rowcount  # noqa: S608 our own names


# --------------------------------------------------------------------------- a limit on the size

_TARGET = 0.95
"""Share of the limit down to which rows are deleted, so that the limit is not reached again at once."""
_PAGES = 1_000
"""Pages deleted in one transaction."""
_MOST = 100_000
"""Rows of one kind deleted a call: other work wants its turn, too."""
_DROPPABLE = """
state = 'waiting' AND purpose = 'page' AND depth > 0 AND settled_at IS NULL
AND id NOT IN (SELECT lease_url FROM host WHERE lease_until > 0 AND lease_url IS NOT NULL)"""
_COLUMNS = "id, host_id, tier, depth, first_seen"
# Waiting pages of a tier after ?2 that were never visited and are not leased, the oldest first. Seeds stay.
_WORST = f"SELECT {_COLUMNS} FROM url WHERE tier = ?1 AND id > ?2 AND {_DROPPABLE} ORDER BY id LIMIT ?3"  # noqa: S608 our own
# Those of the found pages that still wait.
_STILL_WORST = f"SELECT {_COLUMNS} FROM url WHERE id IN {listed('?')} AND {_DROPPABLE} ORDER BY id"  # noqa: S608 our own
# Put an empty row in a page's place, so that its id, to which links of other pages refer, never names another page.
# (Making the row itself smaller would leave holes that nothing else can fill.)
_EMPTY = """
INSERT INTO url (id, key, address, purpose, host_id, state, reason, depth, tier, score, first_seen)
VALUES (?1, -?1, 'http://dropped.invalid/', 'page', ?2, 'refused', 'no-space', ?3, 0, 0, ?4)"""
_OLDEST_ROBOTS = "SELECT origin FROM robots ORDER BY fetched_at LIMIT ?"
_OLDEST_PROBES = """
SELECT id FROM (
  SELECT id, at, row_number() OVER (PARTITION BY endpoint_id ORDER BY at DESC, id DESC) AS place FROM probe) placed
WHERE place > 2 ORDER BY at, id LIMIT ?"""
_OLDEST_CHANGES = "SELECT id FROM change ORDER BY at, id LIMIT ?"
_OLDEST_IMAGES = "SELECT endpoint_id FROM thumbnail ORDER BY at LIMIT ?"
_IS_GONE = """
NOT EXISTS (SELECT 1 FROM endpoint e WHERE e.service_id = service.id AND e.health <> 'gone')"""
# Layers of services all of whose endpoints are gone, those first that were valid long ago.
_GONE_LAYERS = f"""
SELECT layer.service_id, layer.position FROM service JOIN layer ON layer.service_id = service.id
WHERE {_IS_GONE} ORDER BY service.last_ok, service.id, layer.position LIMIT ?"""  # noqa: S608 our own condition
# Without its fingerprint a service is described anew by its next valid answer.
_FORGET_FINGERPRINT = f"UPDATE service SET fingerprint = '' WHERE id = ? AND {_IS_GONE}"  # noqa: S608 our own condition

_Waiting = tuple[int, int, int, int, float]
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
            ("robots.txt dropped", lambda: self._rows("robots", _OLDEST_ROBOTS, 500)),
            ("probes dropped", lambda: self._rows("probe", _OLDEST_PROBES)),
            ("changes dropped", lambda: self._rows("change", _OLDEST_CHANGES)),
            ("layers of gone services dropped", self._layers),
            ("waiting pages dropped", self._waiting),
            ("kept pages dropped", self._kept),
            ("thumbnails dropped", lambda: self._rows("thumbnail", _OLDEST_IMAGES, 200)),
        )
        for name, deletions in kinds:
            for delete in deletions():
                if self._used() <= self._max_bytes * _TARGET:
                    return dropped
                with self._database.transaction:
                    count = delete()
                if count:
                    dropped[name] = dropped.get(name, 0) + count
                yield
        return dropped

    def _used(self) -> int:
        return self._connection.size().used_bytes

    def _rows(self, table: str, oldest: str, size: int = 0) -> _Deletions:
        for batch in batches(self._connection.execute(oldest, (_MOST,)).fetchall(), size):
            yield partial(delete_rows, self._connection, table, batch)

    def _layers(self) -> _Deletions:
        for batch in batches(self._connection.execute(_GONE_LAYERS, (_MOST,)).fetchall()):
            yield partial(self._drop_layers, batch)

    def _drop_layers(self, rows: Sequence[tuple[int, int]]) -> int:
        gone = {
            service
            for service in dict.fromkeys(service for service, _ in rows)
            if self._connection.execute(_FORGET_FINGERPRINT, (service,)).rowcount
        }
        return delete_rows(self._connection, "layer", [row for row in rows if row[0] in gone])

    def _waiting(self) -> _Deletions:
        left = _MOST
        for tier in sorted(read_totals(self._connection).get((Purpose.PAGE, State.WAITING), {})):
            last = -(2**63)
            while left > 0 and (rows := self._connection.execute(_WORST, (tier, last, _PAGES)).fetchall()):
                yield partial(self._drop_pages, [row[0] for row in rows])
                last, left = rows[-1][0], left - len(rows)

    def _drop_pages(self, ids: Sequence[int]) -> int:
        rows: list[_Waiting] = self._connection.execute(_STILL_WORST, (json.dumps(ids),)).fetchall()
        queue = Queue(self._connection)
        left: dict[int, int] = {}
        delete_rows(self._connection, "url", [(row[0],) for row in rows])
        for url_id, host_id, tier, depth, first_seen in rows:
            self._connection.execute(_EMPTY, (url_id, host_id, depth, first_seen))
            queue.counters.add("page", State.WAITING, tier, -1)
            queue.counters.add("page", State.REFUSED, 0, 1)
            queue.counters.refuse(NO_SPACE, 1)
            left[host_id] = left.get(host_id, 0) + 1
        for host_id, count in left.items():
            queue.refresh(host_id, left=count)
        queue.write()
        return len(rows)

    def _kept(self) -> _Deletions:
        rows = self._connection.execute("SELECT url_id FROM page_store ORDER BY score, url_id LIMIT ?", (_MOST,))
        for batch in batches(rows.fetchall(), 100):
            yield partial(self._drop_kept, batch)

    def _drop_kept(self, rows: Sequence[tuple[int]]) -> int:
        return sum(drop_page(self._connection, url_id) > 0 for (url_id,) in rows)
