"""Addresses that failed because of our own network get their tries back."""

from __future__ import annotations

from collections.abc import Collection

from geocrawl.store import statements as sql
from geocrawl.store.blocked import FORGETS
from geocrawl.store.database import Database
from geocrawl.store.hosts import Hosts
from geocrawl.store.queue import Queue
from geocrawl.store.tally import Tally

_FAILED = """
SELECT id, reason FROM url INDEXED BY url_failed WHERE state = 'failed' AND settled_at >= ?1 AND http_status IS NULL"""


def give_back_tries(database: Database, since: float, reasons: Collection[str]) -> int:
    """What failed from `since` on (seconds since the epoch) for one of `reasons` waits again, as one that was never
    tried; returns how many."""
    connection = database.connection
    with database.transaction:
        ids = [row[0] for row in connection.execute(_FAILED, (since,)).fetchall() if row[1] in reasons]
        hosts, tally = Hosts(connection), Tally(connection)
        queue = Queue(connection, hosts, tally)
        for url_id in ids:
            queue.reopen(url_id)
        hosts.flush()
        tally.flush()
        if ids:
            connection.execute(sql.COUNT, (FORGETS, 1))  # every process looks its rows up anew
    return len(ids)
