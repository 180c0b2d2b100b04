"""Write the health of endpoints: each verdict moves it on (`model.health` decides how) and says when to ask again."""

from __future__ import annotations

from geocrawl.model.health import DAY_S, Condition, Health, after
from geocrawl.store.engine.connection import Connection

NO_SERVICE = frozenset({"html", "not-capabilities", "not-json", "other-kind", "part", "moved", "wrong-type"})
"""Reasons that say for good that an address is none. (What is not found may be announced before it stands.)"""
UNASKED_S = 7 * DAY_S
GUESSED = 2
"""`endpoint.weak` of what nobody named: another kind of service, looked for beside a valid one."""
_READ = "SELECT key, health, health_since, in_a_row, interval_s, due_at, last_ok, weak FROM endpoint WHERE id = ?"
_WRITE = """
UPDATE endpoint SET health = ?, health_since = ?, in_a_row = ?, interval_s = ?, due_at = ? WHERE id = ?"""
_EVENT = "INSERT INTO health_event (endpoint_id, at, before, after, reason) VALUES (?, ?, ?, ?, ?)"


class HealthWriter:
    """Moves health on; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def probed(self, endpoint_id: int, *, ok: bool, reason: str, at: float) -> None:
        """Take a verdict into account, before `endpoint.last_ok` is written.

        An address that never was valid is not asked again when it is told to be no service (an ordinary page, or a
        mistyped link), or was only guessed.
        """
        key, state, since, in_a_row, interval_s, due_at, last_ok, weak = self._connection.execute(
            _READ, (endpoint_id,)
        ).fetchone()
        before = Condition(Health(state), since or 0.0, in_a_row, interval_s, due_at)
        now = after(before, ok=ok, at=at, key=key)
        is_none = last_ok is None and not ok and (reason in NO_SERVICE or weak == GUESSED)
        due = None if is_none else now.due_at
        self._connection.execute(_WRITE, (now.state, now.since, now.in_a_row, now.interval_s, due, endpoint_id))
        if now.state is not before.state:
            self._connection.execute(_EVENT, (endpoint_id, at, before.state, now.state, reason))

    def unasked(self, endpoint_id: int, at: float) -> None:
        """It could not be asked, which says nothing of its health; robots.txt may allow it in a week."""
        self._connection.execute(
            "UPDATE endpoint SET due_at = ? WHERE id = ? AND due_at IS NOT NULL", (at + UNASKED_S, endpoint_id)
        )


def due(connection: Connection, now: float, most: int) -> list[int]:
    """Ids of the endpoints whose next probe is due, the longest overdue first."""
    rows = connection.execute(
        "SELECT id FROM endpoint WHERE due_at IS NOT NULL AND due_at <= ? ORDER BY due_at, id LIMIT ?", (now, most)
    )
    return [row[0] for row in rows]
