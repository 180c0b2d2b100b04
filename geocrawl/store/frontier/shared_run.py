"""Keep what the processes of one crawl share besides the queue (`crawl --processes`): the limit on pages, and counts.

Each process is a member of the run: a fact `member:RUN:OWNER` says what it has done so far. Settlements count the pages
that were answered. A lease takes a page only while the answered pages and those under way (for which members have
leased hosts) are fewer than the limit; both are read in the lease's own transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from geocrawl.model import Visit
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import MEMBER, is_dead, this_process
from geocrawl.store.frontier import statements as sql

_ANSWERED = "SELECT coalesce(sum(value), 0) FROM counter WHERE name = ?"
_UNDER_WAY = """
SELECT count(*) FROM host h JOIN url u ON u.id = h.lease_url WHERE h.lease_until > 0 AND u.purpose = 'page'
AND ? || h.lease_owner IN (SELECT name FROM meta WHERE name LIKE ?)"""
_MEMBERS = "SELECT name, value FROM meta WHERE name LIKE ?"


class SharedRun:
    """A run by several processes, as one of them sees it."""

    def __init__(self, database: Database, run: int, owner: str, max_pages: int = 0) -> None:
        """`owner`: text of this process's `Owner`. `max_pages`: the limit on answered pages of all members; 0: none."""
        self._database = database
        self._connection = database.connection
        self._max_pages = max_pages
        self._counter = f"run:{run}:"
        self._prefix = f"{MEMBER}{run}:"
        self._me = self._prefix + owner

    def join(self, now: float) -> None:
        """Note that this process takes part, and forget what killed members of other runs left behind."""
        here = this_process()
        with self._database.transaction:
            for name, _ in self._connection.execute(_MEMBERS, (f"{MEMBER}%",)).fetchall():
                if not name.startswith(self._prefix) and is_dead(name.split(":", 2)[2], here):
                    self._database.delete_meta(name)
            self._database.write_meta(self._me, json.dumps({"since": now}))
            self._connection.execute(sql.COUNT, (self._counter, 0))

    def pages_left(self) -> int:
        """Return how many pages may still be leased.

        The pages under way are read first: one that is settled in between counts twice rather than not at all.
        """
        if not self._max_pages:
            return 2**31
        values = (self._prefix, f"{self._prefix}%")
        under_way = self._connection.execute(_UNDER_WAY, values).fetchone()[0]
        answered = self._connection.execute(_ANSWERED, (self._counter,)).fetchone()[0]
        return int(self._max_pages - under_way - answered)

    def count(self, visit: Visit) -> None:
        """Count a page that was answered, inside the transaction of its settlement."""
        if visit.is_page_answered:
            self._connection.execute(sql.COUNT, (self._counter, 1))

    def report(self, counts: Mapping[str, Any]) -> None:
        """Store what this process has done so far."""
        with self._database.transaction:
            former = json.loads(self._database.meta_bytes(self._me) or b"{}")
            self._database.write_meta(self._me, json.dumps({**former, **counts}))

    def reports_of_others(self) -> Iterator[dict[str, Any]]:
        """Yield what the other members have stored by `report`."""
        for name, value in self._connection.execute(_MEMBERS, (f"{self._prefix}%",)).fetchall():
            if name != self._me:
                yield {key: each for key, each in json.loads(bytes(value)).items() if key != "since"}

    def end(self) -> None:
        """Forget the members: the run has ended."""
        with self._database.transaction:
            self._connection.execute("DELETE FROM meta WHERE name LIKE ?", (f"{self._prefix}%",))
            self._connection.execute("DELETE FROM counter WHERE name = ?", (self._counter,))
