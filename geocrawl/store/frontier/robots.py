"""Keep what origins answered for /robots.txt, over processes and restarts."""

from __future__ import annotations

import zlib

from geocrawl.model import RobotsRecord
from geocrawl.store.engine.database import Database

_READ = "SELECT origin, status, body, fetched_at, expires_at FROM robots WHERE origin = ?"
_WRITE = """
INSERT INTO robots (origin, status, body, fetched_at, expires_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (origin) DO UPDATE
SET status = excluded.status, body = excluded.body, fetched_at = excluded.fetched_at, expires_at =
excluded.expires_at"""


class SqlRobots:
    """`ports.RobotsStore` in SQLite: no method waits for anything but the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        """Return the last answer, expired or not; None when the origin was never asked."""
        row = self._database.connection.execute(_READ, (origin,)).fetchone()
        if row is None:
            return None
        origin, status, body, fetched_at, expires_at = row
        text = zlib.decompress(body).decode("utf-8", "surrogatepass") if isinstance(body, bytes) else body
        return RobotsRecord(origin, status, text, fetched_at, expires_at)

    async def write_robots(self, record: RobotsRecord) -> None:
        """Write an answer in the place of the last one."""
        # Compressed: 500 KiB of one rule again and again would fill the database.
        body = None if record.body is None else zlib.compress(record.body.encode("utf-8", "surrogatepass"))
        values = (record.origin, record.status, body, record.fetched_at, record.expires_at)
        with self._database.shared_transaction:
            self._database.connection.execute(_WRITE, values)
