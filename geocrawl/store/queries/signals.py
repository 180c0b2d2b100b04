"""What each way of finding services brought: candidates and valid endpoints by the signal of their evidence."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection

_YIELD = """
WITH named AS (SELECT endpoint_id, count(DISTINCT signal) AS signals FROM evidence GROUP BY endpoint_id)
SELECT v.signal, e.kind, count(DISTINCT e.id) AS candidates,
       count(DISTINCT CASE WHEN e.status IS NOT NULL THEN e.id END) AS probed,
       count(DISTINCT CASE WHEN e.status = 'valid' THEN e.id END) AS valid,
       count(DISTINCT CASE WHEN e.status = 'valid' AND n.signals = 1 THEN e.id END) AS alone
FROM evidence v JOIN endpoint e ON e.id = v.endpoint_id JOIN named n ON n.endpoint_id = e.id
GROUP BY v.signal, e.kind ORDER BY valid DESC, candidates DESC, v.signal, e.kind"""


@dataclass(frozen=True, slots=True)
class SignalYield:
    """What one signal brought of one kind."""

    signal: str
    """As in `Evidence.signal`: query, path, text, script, script-file, form, sibling …"""
    kind: str
    candidates: int
    """Endpoints that it named."""
    probed: int
    """Of these, with a verdict."""
    valid: int
    alone: int
    """Valid ones that no other signal named."""


def signal_yields(connection: Connection) -> list[SignalYield]:
    """One row for each signal and kind, the most valid endpoints first."""
    return [SignalYield(*row) for row in connection.execute(_YIELD)]
