"""Let other processes seem to live, or to have ended, in a database."""

from __future__ import annotations

import json

from geocrawl.store.database.database import Database
from geocrawl.store.database.life import BEAT


def beat(database: Database, owner: str, at: float, settled: int = 0) -> None:
    """Write a beat of a process."""
    facts = {"at": at, "settled": settled, "a_minute": None}
    database.set_meta(BEAT + owner, json.dumps(facts))


def end(database: Database, owner: str, at: float = 1_000_000.0) -> None:
    """Write the end of a process."""
    database.set_meta(BEAT + owner, json.dumps({"at": at, "ended": True}))
