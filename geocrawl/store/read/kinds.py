"""Count the services of each kind: `geocrawl stats`."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection


@dataclass(frozen=True, slots=True)
class KindCount:
    """The services of one kind."""

    kind: str
    services: int
    alive: int
    """Valid at their last probe, at one of their endpoints at least."""
    delivers: int
    """Number of the kind's services that delivered content."""
    layers: int
    """Named layers."""


_COUNTS = """
SELECT kind, count(*), count(level), count(CASE WHEN level = 'delivers' THEN 1 END), sum(layer_count)
FROM (SELECT s.kind, s.layer_count,
        (SELECT max(coalesce(e.level, '')) FROM endpoint e WHERE e.service_id = s.id AND e.status = 'valid') AS level
      FROM service s) kinds
GROUP BY kind ORDER BY 2 DESC, 1"""


def kind_counts(connection: Connection) -> list[KindCount]:
    """Return the counts of each kind, the commonest first."""
    return [KindCount(*row) for row in connection.execute(_COUNTS)]
