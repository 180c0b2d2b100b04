"""Read which processes work on a database: the daemon, crawls and harvests, and how fast each of them is.

A killed process leaves its run open and its lock behind, so both count only while it lives (`life.is_alive`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import stored_fact
from geocrawl.store.database.life import LEARNER, MEMBER, Owner, is_alive, read_beat
from geocrawl.store.database.schema.tables import DAILY, HOST, META, RUN
from geocrawl.wording import moment

DAEMON_LOCK, DAEMON_PAUSED, DAEMON_JOBS = "daemon:lease", "daemon:paused", "daemon:jobs"
_IS_LEASED = (HOST.c.lease_until > 0, HOST.c.lease_until > bindparam("now"))  # the first one lets an index serve
_EARLIER_RUNS = (
    select(RUN.c.owner, RUN.c.strategy, RUN.c.started_at)
    .where(RUN.c.id < bindparam("run"), RUN.c.ended_at.is_(None), RUN.c.owner != bindparam("owner"))
    .order_by(RUN.c.id)
)
"""Find the runs of other processes that began before `run` and have not ended."""
_OF_DAY = select(DAILY.c.name, DAILY.c.value).where(DAILY.c.day == bindparam("day"))
_ANY_RUN = 2**62
"""Above the number of every run."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The daemon that has the lock of a database, as the row in `meta` describes it."""

    machine: str
    pid: int
    token: str
    """As in `Owner`."""
    since: float
    beat: float
    """When it last said what it does."""
    state: str = ""
    """What the daemon does at present, as a line for a person."""

    @property
    def owner(self) -> Owner:
        """Return the process of the daemon."""
        return Owner(self.machine, self.pid, self.token)

    @property
    def process(self) -> str:
        """Return the text of its `Owner`."""
        return self.owner.text


@dataclass(frozen=True, slots=True)
class JobRun:
    """A recurring job of the daemon: its last run that ended, its next run, and its last error."""

    name: str
    last_run: float | None = None
    """When the last run began (all times: seconds since the epoch); None: it has not run yet."""
    seconds: float | None = None
    """How long the last run took."""
    next_run: float | None = None
    """None: the job is at work, and its next run is set at the end."""
    last_error: str = ""
    failed_at: float | None = None


def read_jobs(connection: Connection) -> tuple[JobRun, ...]:
    """Return the daemon's jobs as its last heartbeat wrote them."""
    return tuple(JobRun(**run) for run in json.loads(stored_fact(connection, DAEMON_JOBS) or "[]"))


def read_holder(connection: Connection) -> Holder | None:
    """Return the daemon that has the lock, alive or not; None without one."""
    facts = stored_fact(connection, DAEMON_LOCK)
    return Holder(**json.loads(facts)) if facts else None


def alive_holder(connection: Connection, now: float) -> Holder | None:
    """Return the daemon that runs on the database; None when none does."""
    holder = read_holder(connection)
    return holder if holder is not None and is_alive(connection, holder.process, now) else None


def is_paused(connection: Connection) -> bool:
    """Return whether a person paused the daemon."""
    return stored_fact(connection, DAEMON_PAUSED) == "1"


def counts_of_day(connection: Connection, day: str) -> dict[str, int]:
    """Return the counts of a day (YYYY-MM-DD) by name: pages, probes, valid, failures …"""
    return dict(connection.execute(_OF_DAY, {"day": day}).fetchall())


# --------------------------------------------------------------------------- crawls and harvests


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A crawl of another process on this database."""

    owner: Owner
    strategy: str
    since: str
    """UTC, YYYY-MM-DD HH:MM:SS"""

    def __str__(self) -> str:
        return f"{self.owner} (strategy {self.strategy}, since {self.since} UTC)"


def earlier_runs(connection: Connection, run: int, owner: str, now: float) -> list[OtherRun]:
    """Return the crawls of other processes than `owner` that began before `run` and still run, the earliest first."""
    rows = connection.execute(_EARLIER_RUNS, {"run": run, "owner": owner}).fetchall()
    return [
        OtherRun(Owner.read(other), strategy, moment(since))
        for other, strategy, since in rows
        if is_alive(connection, other, now)
    ]


@dataclass(frozen=True, slots=True)
class WorkingProcess:
    """A process that crawls, harvests or runs the daemon on a database."""

    what: str
    """daemon, harvest or crawl."""
    owner: Owner
    since: str
    """UTC, YYYY-MM-DD HH:MM:SS"""

    def __str__(self) -> str:
        return f"{self.owner} ({self.what} since {self.since} UTC)"


def working_processes(connection: Connection, now: float) -> list[WorkingProcess]:
    """Return the daemon, crawls and harvests that run on the database."""
    processes = list[WorkingProcess]()
    holder = alive_holder(connection, now)
    if holder is not None:
        processes.append(WorkingProcess("daemon", holder.owner, moment(holder.since)))
    for other in earlier_runs(connection, _ANY_RUN, "", now):
        what = "harvest" if other.strategy == "harvest" else "crawl"
        processes.append(WorkingProcess(what, other.owner, other.since))
    return processes


# --------------------------------------------------------------------------- how fast they are

_OPEN_RUNS = (
    select(RUN.c.id, RUN.c.owner, RUN.c.strategy, RUN.c.started_at).where(RUN.c.ended_at.is_(None)).order_by(RUN.c.id)
)
_MEMBERS = select(META.c.name, META.c.value).where(META.c.name.like(bindparam("names"))).order_by(META.c.name)
_LEASES = select(HOST.c.lease_owner, func.count()).where(*_IS_LEASED).group_by(HOST.c.lease_owner)


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that crawls on a database."""

    process: str
    """machine:number"""
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


def read_workers(connection: Connection, now: float) -> list[Worker]:
    """Return the processes that crawl on the database, the earliest first."""
    leases = dict(connection.execute(_LEASES, {"now": now}).fetchall())
    workers, learner = list[Worker](), stored_fact(connection, LEARNER)
    for owner, strategy, since, crawl in _processes(connection):
        if not is_alive(connection, owner, now):
            continue
        beat = read_beat(connection, owner)
        workers.append(
            Worker(
                process=Owner.read(owner).short,
                strategy=strategy,
                learns=owner == learner,
                since=since,
                leases=leases.get(owner, 0),
                settled=beat["settled"],
                a_minute=beat["a_minute"],
                seen=beat["at"],
                helps=Owner.read(crawl).short if crawl else "",
            )
        )
    return workers


def _processes(connection: Connection) -> Iterator[tuple[str, str, float, str]]:
    """Yield owner, strategy, start and the crawl it helps ('': its own) of each process, helpers after their crawl."""
    for run, owner, strategy, since in connection.execute(_OPEN_RUNS).fetchall():
        yield owner, strategy, since, ""
        prefix = f"{MEMBER}{run}:"
        for name, value in connection.execute(_MEMBERS, {"names": f"{prefix}%"}).fetchall():
            if (member := name.removeprefix(prefix)) != owner:
                yield member, strategy, float(json.loads(bytes(value))["since"]), owner
