"""Read who crawls on a database, since when and how fast: `geocrawl workers`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner, is_dead, this_process

LEARNER = "strategy:learner"
"""Key of the owner of the learner's role (`LearnerRole`)."""
HELPER = "helper:"
"""Facts of this name and an owner: which crawl the process helps, by the crawl's owner, and since when, as JSON."""
BEAT = "worker:"
"""Facts of this name and an owner: how many visits the process has settled, as JSON (`Frontier`)."""
_RUNS = "SELECT id, owner, strategy, started_at FROM run WHERE ended_at IS NULL ORDER BY id"
_HELPERS = "SELECT name, value FROM meta WHERE name LIKE 'helper:%' ORDER BY name"
_LEASES = "SELECT lease_owner, count(*) FROM host WHERE lease_until > ? GROUP BY lease_owner"


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that crawls on a database."""

    process: str
    """machine:number"""
    state: str
    """runs, or seen: it runs where this process cannot look, and has written lately or has leases."""
    strategy: str
    learns: bool
    """Whether its strategy learns, from the visits of all; the others load what it has learnt."""
    since: float
    """Start, seconds since the epoch."""
    leases: int
    """Hosts that it has leased."""
    settled: int
    """Visits that it had settled at `seen`."""
    a_minute: float | None
    """Visits settled a minute, between its last two notes; None: not known yet."""
    seen: float | None
    """When it last noted its visits; None: not yet."""
    helps: str
    """The process whose crawl it helps (`crawl --processes`), machine:number; '' for one with a crawl of its own."""


_SILENT_S = 300.0
"""A process that cannot be asked counts as ended when it has no lease and noted nothing for so long."""


def read_workers(connection: Connection, now: float) -> list[Worker]:
    """Return the processes that crawl on the database, the earliest first."""
    leases = dict(connection.execute(_LEASES, (now,)).fetchall())
    here, found, learner = this_process(), list[Worker](), _learner(connection)
    for text, strategy, since, crawl in _processes(connection):
        owner, note = Owner.read(text), _note(connection, text)
        running = owner.is_running(here)
        quiet = not leases.get(text) and now - float(note.get("at", since)) > _SILENT_S
        if is_dead(text, here) or (running is None and quiet):
            continue
        found.append(
            Worker(
                process=owner.short,
                state="runs" if running else "seen",
                strategy=strategy,
                learns=text == learner,
                since=since,
                leases=leases.get(text, 0),
                settled=int(note.get("settled", 0)),
                a_minute=note.get("a_minute"),
                seen=note.get("at"),
                helps=Owner.read(crawl).short if crawl else "",
            )
        )
    return found


def _processes(connection: Connection) -> Iterator[tuple[str, str, float, str]]:
    """Yield owner, strategy, start and the crawl it helps ('': its own) of each process, helpers after their crawl."""
    helpers = [(name.removeprefix(HELPER), json.loads(bytes(value))) for name, value in connection.execute(_HELPERS)]
    for _, owner, strategy, since in connection.execute(_RUNS).fetchall():
        yield owner, strategy, since, ""
        for helper, note in helpers:
            if note["crawl"] == owner:
                yield helper, strategy, float(note["since"]), owner


def _learner(connection: Connection) -> str:
    """Return the owner of the learner's role; '' when nobody has it."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (LEARNER,)).fetchone()
    return "" if row is None else bytes(row[0]).decode()


def _note(connection: Connection, owner: str) -> dict[str, float]:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (BEAT + owner,)).fetchone()
    return dict(json.loads(bytes(row[0]))) if row else {}
