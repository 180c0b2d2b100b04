"""Say which endpoints are shown, and count their deviations: expressions that views, lists and counts share."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, func, or_, select

from geocrawl.store.database.constructs import json_elements, json_member
from geocrawl.store.database.schema import GUESSED
from geocrawl.store.database.schema.tables import ENDPOINT


def is_shown(endpoint: FromClause) -> ColumnElement[bool]:
    """Return whether an endpoint is shown: one that was only guessed and never worked is not."""
    return or_(endpoint.c.weak < GUESSED, endpoint.c.last_ok.is_not(None))


_NUMBER = func.count().label("number")
_DEVIATION = json_elements(ENDPOINT.c.deviations).table_valued("value", name="deviation")
_CODE = json_member(_DEVIATION.c.value, "code").label("code")
DEVIATIONS = (
    select(_CODE, _NUMBER)
    .select_from(ENDPOINT, _DEVIATION)
    .where(ENDPOINT.c.status == "valid", ENDPOINT.c.deviations != "[]")
    .group_by("code")
    .order_by(_NUMBER.desc(), "code")
)
"""Count the endpoints valid at the last probe by the codes of their deviations."""
