"""Read the small images that content checks kept."""

from __future__ import annotations

from collections.abc import Sequence

from geocrawl.store.engine.connection import Connection

_THUMBNAIL = """
SELECT t.image FROM thumbnail t JOIN endpoint e ON e.id = t.endpoint_id WHERE e.service_id = ?
ORDER BY t.at DESC LIMIT 1"""


def read_thumbnail(connection: Connection, service_id: int) -> bytes | None:
    """Return the latest thumbnail of a service, a PNG; None when there is none."""
    row = connection.execute(_THUMBNAIL, (service_id,)).fetchone()
    return None if row is None else bytes(row[0])


def with_thumbnail(connection: Connection, service_ids: Sequence[int]) -> frozenset[int]:
    """Return those of the services that have a thumbnail."""
    if not service_ids:
        return frozenset()
    marks = ", ".join("?" * len(service_ids))
    statement = (
        "SELECT DISTINCT e.service_id FROM thumbnail t JOIN endpoint e ON e.id = t.endpoint_id "  # noqa: S608  # only marks
        f"WHERE e.service_id IN ({marks})"
    )
    return frozenset(row[0] for row in connection.execute(statement, tuple(service_ids)))
