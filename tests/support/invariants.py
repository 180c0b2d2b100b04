"""What holds in every database of a crawl, whatever was done to it."""

from __future__ import annotations

import sqlite3
from collections import Counter

from geocrawl.store.database.connection import Connection


def check_invariants(connection: sqlite3.Connection | Connection) -> None:
    """Assert that counters, queue lengths and heads agree with the rows."""
    counted = connection.execute(
        "SELECT purpose || ':' || state || CASE state WHEN 'waiting' THEN ':' || tier ELSE '' END, count(*) "
        "FROM url GROUP BY 1"
    ).fetchall()
    kept = _summed(connection, "p%:%")
    assert sorted(kept) == sorted(counted)
    refused = connection.execute(
        "SELECT 'refused:' || reason, count(*) FROM url WHERE state = 'refused' "
        "AND reason NOT IN ('unranked', 'candidate') GROUP BY 1"
    ).fetchall()
    kept = _summed(connection, "refused:%")
    assert sorted(kept) == sorted(refused)
    queued = connection.execute(
        "SELECT 'queued:' || sub_queue, count(*) FROM url WHERE state = 'waiting' AND sub_queue IS NOT NULL GROUP BY 1"
    ).fetchall()
    assert sorted(_summed(connection, "queued:%")) == sorted(queued)
    wrong = connection.execute(
        """
        SELECT h.name FROM host h WHERE waiting <> (SELECT count(*) FROM url WHERE host_id = h.id AND state = 'waiting')
        OR (lease_until = 0 AND waiting > 0 AND (best_tier, best_score) <>
            (SELECT tier, score FROM url WHERE host_id = h.id AND state = 'waiting'
             ORDER BY tier DESC, score DESC LIMIT 1))
        """
    ).fetchall()
    assert wrong == []


def _summed(connection: sqlite3.Connection | Connection, names: str) -> list[tuple[str, int]]:
    """Return running totals, each summed over the rows to which several processes add (`name@slot`)."""
    totals: Counter[str] = Counter()
    for name, value in connection.execute("SELECT name, value FROM counter WHERE name LIKE ?", (names,)).fetchall():
        totals[name.partition("@")[0]] += value
    return [(name, value) for name, value in totals.items() if value]


def check_foreign_keys(connection: Connection) -> None:
    """Assert that no row refers to one that is gone; PostgreSQL's tables have no foreign keys to be checked."""
    if connection.engine == "sqlite":
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
