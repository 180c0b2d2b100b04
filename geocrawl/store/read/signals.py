"""Count candidates and valid endpoints by the signal that named them: `geocrawl signals`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Label, case, func, select

from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, EVIDENCE

_NAMED = (
    select(EVIDENCE.c.endpoint_id, func.count(EVIDENCE.c.signal.distinct()).label("signals"))
    .group_by(EVIDENCE.c.endpoint_id)
    .cte("named")
)
_IS_VALID = ENDPOINT.c.status == "valid"
_CANDIDATES = func.count(ENDPOINT.c.id.distinct()).label("candidates")


def _count_where(condition: ColumnElement[bool], label: str) -> Label[int]:
    return func.count(case((condition, ENDPOINT.c.id)).distinct()).label(label)


_VALID = _count_where(_IS_VALID, "valid")
_YIELD = (
    select(
        *(EVIDENCE.c.signal, ENDPOINT.c.kind, _CANDIDATES, _count_where(ENDPOINT.c.status.is_not(None), "probed")),
        *(_VALID, _count_where(_IS_VALID & (_NAMED.c.signals == 1), "alone")),
    )
    .select_from(
        EVIDENCE.join(ENDPOINT, ENDPOINT.c.id == EVIDENCE.c.endpoint_id).join(
            _NAMED, _NAMED.c.endpoint_id == ENDPOINT.c.id
        )
    )
    .group_by(EVIDENCE.c.signal, ENDPOINT.c.kind)
    .order_by(_VALID.desc(), _CANDIDATES.desc(), EVIDENCE.c.signal, ENDPOINT.c.kind)
)


@dataclass(frozen=True, slots=True)
class SignalYield:
    """Candidates of one kind that one signal named."""

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
    """Return a row for each signal and kind, the most valid endpoints first."""
    return [SignalYield(*row) for row in connection.run(_YIELD)]
