"""Store a few facts about a whole database (table `meta`): the strategy that orders its queue, and what was
harvested."""

from __future__ import annotations

from geocrawl.store.engine.database import Database


class Facts:
    """Reads and writes the facts that commands store about a database. Every method raises DatabaseFault."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def strategy(self) -> str | None:
        """Return the name of the strategy by which the queue is ordered; None before the first crawl."""
        return self._database.meta("strategy")

    def topic(self) -> str:
        """Return the name of that strategy's topic; '' for its own."""
        return self._database.meta("topic") or ""

    def write_strategy(self, name: str, topic: str) -> None:
        """Write by which strategy and topic the queue is ordered."""
        with self._database.transaction:
            self._database.write_meta("strategy", name)
            self._database.write_meta("topic", topic)

    def max_depth(self) -> int | None:
        """Return the depth limit of the last crawl; None before the first."""
        depth = self._database.meta("max_depth")
        return int(depth) if depth else None

    def harvested_on(self, identity: str) -> str:
        """Return the day (YYYY-MM-DD) of the last whole harvest of a catalogue, named by its address's identity; ''
        when there was none."""
        return self._database.meta(f"harvest:{identity}") or ""

    def write_harvested(self, identity: str, day: str) -> None:
        """Write that a catalogue was harvested whole on a day (YYYY-MM-DD)."""
        self._database.set_meta(f"harvest:{identity}", day)

    def was_mined(self, identity: str) -> bool:
        """Return whether a file of an archive was mined whole for this database."""
        return self._database.meta(f"mined:{identity}") is not None

    def write_mined(self, identity: str) -> None:
        """Write that a file of an archive was mined whole."""
        self._database.set_meta(f"mined:{identity}", b"")
