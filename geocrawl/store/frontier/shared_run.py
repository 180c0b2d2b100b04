"""Keep what the processes of one crawl share besides the queue (`crawl --processes`): the limit on pages, and counts.

Each process is a member of the run: a fact `member:RUN:OWNER` says what it has done so far. Settlements count the pages
that were answered. A lease takes a page only while the answered pages and those under way (for which members have
leased hosts) are fewer than the limit; both are read in the lease's own transaction. While the limit is far, the
answered pages alone say so, and leases of several processes do not wait for each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Text, bindparam, delete, func, select

from geocrawl.model import Purpose, Visit
from geocrawl.store.database.database import Database
from geocrawl.store.database.life import MEMBER
from geocrawl.store.database.schema.tables import COUNTER, HOST, META, URL
from geocrawl.store.frontier import statements as sql

_ANSWERED = select(COUNTER.c.value).where(COUNTER.c.name == bindparam("name"))
_IS_MEMBER = META.c.name.startswith(bindparam("prefix", type_=Text))
_UNDER_WAY = (
    select(func.count())
    .join_from(HOST, URL, URL.c.id == HOST.c.lease_url)
    .where(HOST.c.lease_until > 0, URL.c.purpose == Purpose.PAGE)
    .where((bindparam("prefix", type_=Text) + HOST.c.lease_owner).in_(select(META.c.name).where(_IS_MEMBER)))
)
_MEMBERS = select(META.c.name, META.c.value).where(_IS_MEMBER)


class SharedRun:
    """A run by several processes, as one of them sees it."""

    def __init__(self, database: Database, run: int, max_pages: int = 0, most_under_way: int = 0) -> None:
        """`max_pages`: the limit on answered pages of all members; 0: none. `most_under_way`: how many visits they can
        have under way at once."""
        self._database = database
        self._connection = database.connection
        self._max_pages = max_pages
        self._most_under_way = most_under_way
        self._counter = f"run:{run}:"
        self._prefix = f"{MEMBER}{run}:"
        self._me = self._prefix + database.life.owner

    def join(self, now: float) -> None:
        """Note that this process takes part, and forget what killed members of other runs left behind."""
        life = self._database.life
        with self._database.transaction:
            for name, _ in self._connection.execute(_MEMBERS, {"prefix": MEMBER}).fetchall():
                if not name.startswith(self._prefix) and life.has_ended(name.split(":", 2)[2], self._connection):
                    self._database.delete_meta(name)
            self._database.write_meta(self._me, json.dumps({"since": now}))
            self._connection.execute(sql.COUNT, {"name": self._counter, "value": 0})

    def is_far_from_limit(self) -> bool:
        """Return whether a page may be leased whatever is under way: what others lease at this moment is no matter."""
        return not self._max_pages or self._max_pages - self._answered() > self._most_under_way

    def pages_left(self) -> int:
        """Return how many pages may still be leased.

        The pages under way are read first: one that is settled in between counts twice rather than not at all.
        """
        if not self._max_pages:
            return 2**31
        under_way = self._connection.execute(_UNDER_WAY, {"prefix": self._prefix}).fetchone()[0]
        return int(self._max_pages - under_way - self._answered())

    def _answered(self) -> int:
        row = self._connection.execute(_ANSWERED, {"name": self._counter}).fetchone()
        return int(row[0]) if row else 0

    def count(self, visit: Visit) -> None:
        """Count a page that was answered, inside the transaction of its settlement."""
        if visit.is_page_answered:
            self._connection.write(sql.COUNT, {"name": self._counter, "value": 1})

    def report(self, counts: Mapping[str, Any]) -> None:
        """Store what this process has done so far."""
        with self._database.transaction:
            former = json.loads(self._database.meta_bytes(self._me) or b"{}")
            self._database.write_meta(self._me, json.dumps({**former, **counts}))

    def reports_of_others(self) -> Iterator[dict[str, Any]]:
        """Yield what the other members have stored by `report`."""
        for name, value in self._connection.execute(_MEMBERS, {"prefix": self._prefix}).fetchall():
            if name != self._me:
                yield {key: each for key, each in json.loads(bytes(value)).items() if key != "since"}

    def end(self) -> None:
        """Forget the members: the run has ended."""
        with self._database.transaction:
            self._connection.execute(delete(META).where(_IS_MEMBER), {"prefix": self._prefix})
            self._connection.execute(delete(COUNTER).where(COUNTER.c.name == self._counter))
