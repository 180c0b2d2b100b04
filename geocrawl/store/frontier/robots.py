"""Keep what origins answered for /robots.txt, over processes and restarts."""

from __future__ import annotations

from geocrawl.model import RobotsRecord
from geocrawl.store.engine.database import Database

_READ = "SELECT origin, status, body, fetched_at, expires_at FROM robots WHERE origin = ?"
_WRITE = """
INSERT INTO robots (origin, status, body, fetched_at, expires_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
SET status = excluded.status, body = excluded.body, fetched_at = excluded.fetched_at, expires_at =
excluded.expires_at"""


class SqlRobots:
    """`ports.RobotsStore` on the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_robots(self, origin: str) -> RobotsRecord | None:
        """Return the last answer, expired or not; None when the origin was never asked."""
        row = self._database.connection.execute(_READ, (origin,)).fetchone()
        return None if row is None else RobotsRecord(*row)

    def write_robots(self, record: RobotsRecord) -> None:
        """Write an answer in the place of the last one."""
        values = (record.origin, record.status, record.body, record.fetched_at, record.expires_at)
        with self._database.transaction:
            self._database.connection.execute(_WRITE, values)
