"""What holds in every database of a crawl, whatever was done to it."""

from __future__ import annotations

import sqlite3

from geocrawl.store.engine.connection import Connection


def check_invariants(connection: sqlite3.Connection | Connection) -> None:
    """Assert that counters, queue lengths and heads agree with the rows."""
    counted = connection.execute(
        "SELECT purpose || ':' || state || CASE state WHEN 'waiting' THEN ':' || tier ELSE '' END, count(*) "
        "FROM url GROUP BY 1"
    ).fetchall()
    kept = connection.execute("SELECT name, value FROM counter WHERE name LIKE 'p%:%' AND value <> 0").fetchall()
    assert sorted(kept) == sorted(counted)
    refused = connection.execute(
        "SELECT 'refused:' || reason, count(*) FROM url WHERE state = 'refused' "
        "AND reason NOT IN ('unranked', 'candidate') GROUP BY 1"
    ).fetchall()
    kept = connection.execute("SELECT name, value FROM counter WHERE name LIKE 'refused:%' AND value <> 0").fetchall()
    assert sorted(kept) == sorted(refused)
    wrong = connection.execute(
        """
        SELECT h.name FROM host h WHERE waiting <> (SELECT count(*) FROM url WHERE host_id = h.id AND state = 'waiting')
        OR (lease_until = 0 AND waiting > 0 AND (best_tier, best_score) <>
            (SELECT tier, score FROM url WHERE host_id = h.id AND state = 'waiting'
             ORDER BY tier DESC, score DESC LIMIT 1))
        """
    ).fetchall()
    assert wrong == []
