"""Find the session that keeps the server from removing old versions of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geocrawl.store.engine.connection import OpenSnapshot

if TYPE_CHECKING:
    from geocrawl.store.engine.connection import Connection

# A transaction with a snapshot (xmin), or one that has written (xid), holds VACUUM back; one with neither does not. Of
# other users' sessions only a member of pg_read_all_stats sees these columns.
_OLDEST = """
SELECT pid, usename, application_name, state, age FROM
  (SELECT pid, usename, application_name, state, date_part('epoch', clock_timestamp() - xact_start) AS age
   FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
     AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)) sessions
WHERE age >= ? ORDER BY age DESC LIMIT 1"""


def oldest_snapshot(connection: Connection, older_than_s: float) -> OpenSnapshot | None:
    """Return the oldest open transaction of another session of this database that holds VACUUM back, if it is older
    than so many seconds; else None."""
    row = connection.execute(_OLDEST, (older_than_s,)).fetchone()
    if row is None:
        return None
    pid, user, program, state, age = row
    holder = f"{program or 'a program without a name'}, user {user}, {state}"
    return OpenSnapshot(holder=holder, pid=int(pid), age_s=float(age), log_bytes=None)
