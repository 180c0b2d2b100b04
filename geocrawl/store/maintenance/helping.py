"""Note which processes help which crawl, for `geocrawl workers`."""

from __future__ import annotations

import json

from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import HELPER, is_dead, this_process


def begin_helping(database: Database, crawl: str, now: float) -> None:
    """Note that this process helps a crawl, given by the text of its `Owner`, and forget killed helpers."""
    here = this_process()
    with database.transaction:
        names = database.connection.execute("SELECT name FROM meta WHERE name LIKE 'helper:%'").fetchall()
        for (name,) in names:
            if is_dead(name.removeprefix(HELPER), here):
                database.delete_meta(name)
        database.write_meta(HELPER + here.text, json.dumps({"crawl": crawl, "since": now}))


def end_helping(database: Database) -> None:
    """Note that this process helps no longer."""
    with database.transaction:
        database.delete_meta(HELPER + this_process().text)
