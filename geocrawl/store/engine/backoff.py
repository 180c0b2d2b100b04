"""Waiting for a database that cannot be written for now: it is locked, or its disk is full, and both pass.

A daemon waits as long as it takes, a crawl as long as a person would. The visits under way are lost, no settled one is.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.ports import Clock
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.faults import fault

_FIRST_S, _LONGEST_S = 1.0, 60.0


class Backoff:
    """How long to wait until the next try."""

    def __init__(self, clock: Clock, most_s: float = math.inf) -> None:
        """`most_s`: the longest wait in all; while it lasts, a person waits, so no pause is longer than 5 s."""
        self._clock = clock
        self._most_s = most_s
        self._longest_s = _LONGEST_S if most_s == math.inf else 5.0
        self._pauses = 0
        self._since = 0.0

    @property
    def limit(self) -> str:
        """The longest wait, for a person: ' up to 120 s'."""
        return "" if self._most_s == math.inf else f" up to {self._most_s:g} s"

    def pause_s(self, trouble: PassingFault) -> float:
        """The next wait, longer each time until `end`. Raises `trouble` when the patience is at its end."""
        now = self._clock.monotonic()
        if self._pauses == 0:
            self._since = now
        left = self._since + self._most_s - now
        if left <= 0:
            raise trouble
        self._pauses += 1
        return min(_FIRST_S * 2.0 ** min(self._pauses - 1, 10), self._longest_s, left)

    def end(self) -> None:
        """Something was written: all is well."""
        self._pauses = 0


def trouble_now(database: Database, write: Callable[[], object]) -> PassingFault | None:
    """Try to write; what is still the matter, None when it worked. Raises DatabaseFault for what does not pass."""
    try:
        write()
    except (PassingFault, sqlite3.Error) as error:
        with suppress(sqlite3.Error):  # the log's space (64 MiB at most) may be all that is missing
            database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return passing(database.path, error)
    return None


def passing(path: Path, error: DatabaseFault | sqlite3.Error) -> PassingFault:
    """What is to be waited for; raises DatabaseFault for what waiting does not help."""
    found = error if isinstance(error, DatabaseFault) else fault(path, error)
    if isinstance(found, PassingFault):
        return found
    raise found from error
