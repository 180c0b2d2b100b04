"""Read how much of other people's catalogues was read, and what their records led to."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from geocrawl.model import SourceState
from geocrawl.sanitize import masked
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import ENDPOINT, SOURCE, SOURCE_SERVICE

_COLUMNS = ("address", "family", "stated", "read", "named", "state", "reason", "at")
_IS_VALID = ENDPOINT.c.status == "valid"
_IS_NEW = SOURCE_SERVICE.c.is_new == 1
_ENDPOINTS = (
    (_IS_VALID & _IS_NEW, "new"),
    (_IS_VALID & ~_IS_NEW, "known"),
    (ENDPOINT.c.status.is_not(None) & ~_IS_VALID, "dead"),
    (ENDPOINT.c.status.is_(None), "waiting"),
)
_READ = (
    select(
        *(SOURCE.c[name] for name in _COLUMNS),
        *(
            select(func.count())
            .select_from(SOURCE_SERVICE.join(ENDPOINT, ENDPOINT.c.id == SOURCE_SERVICE.c.endpoint_id))
            .where(SOURCE_SERVICE.c.source_id == SOURCE.c.id, condition)
            .correlate(SOURCE)
            .scalar_subquery()
            .label(name)
            for condition, name in _ENDPOINTS
        ),
    )
    .where(SOURCE.c.harvest >= bindparam("harvest"), bindparam("state").in_(["", SOURCE.c.state]))
    .order_by(SOURCE.c.at.desc(), SOURCE.c.id)
    .limit(bindparam("most"))
)


def read_sources(
    connection: Connection, *, harvest: int = 0, state: str = "", most: int = 50
) -> tuple[SourceState, ...]:
    """Return how far the sources were read of this harvest or a later one, the latest first; addresses without
    secrets. `state`: only those in this state, '' for any."""
    rows = connection.execute(_READ, {"harvest": harvest, "state": state, "most": most}).fetchall()
    return tuple(SourceState(masked(address), *rest) for address, *rest in rows)
