"""Note now and then how many visits this process has settled, for `geocrawl workers`."""

from __future__ import annotations

import json
import time

from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import BEAT

_EVERY_S = 10.0
_FORGOTTEN_AFTER_S = 86_400.0


class Notes:
    """Counts the settlements of one process, and writes their number inside one of them every ten seconds."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner
        self._settled = self._noted = 0
        self._noted_at = time.monotonic()

    def settled(self, now: float) -> None:
        """Count a settlement, inside its transaction; `now`: seconds since the epoch."""
        self._settled += 1
        passed = time.monotonic() - self._noted_at
        if passed < _EVERY_S:
            return
        if not self._noted:
            self._forget_others(now)
        rate = round((self._settled - self._noted) / passed * 60, 1)
        note = {"settled": self._settled, "a_minute": rate, "at": now}
        self._database.write_meta(BEAT + self._owner, json.dumps(note))
        self._noted, self._noted_at = self._settled, time.monotonic()

    def _forget_others(self, now: float) -> None:
        """Delete the notes of processes that wrote none for a day."""
        notes = self._database.connection.execute("SELECT name, value FROM meta WHERE name LIKE 'worker:%'").fetchall()
        for name, value in notes:
            if now - float(json.loads(bytes(value))["at"]) > _FORGOTTEN_AFTER_S:
                self._database.delete_meta(name)
