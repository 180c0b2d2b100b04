"""Read which processes work on a database: the daemon, crawls and harvests, and how fast each of them is.

A killed crawl leaves its run open, so an open run counts only while its process runs. On this machine the system knows
whether it does; a run of another machine counts while it has leased a host or has written lately."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import bindparam, exists, func, select

from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import stored_fact
from geocrawl.store.database.owner import BEAT, LEARNER, MEMBER, Owner, is_dead, this_process
from geocrawl.store.database.schema.tables import DAILY, HOST, META, RUN
from geocrawl.wording import moment

DAEMON_LOCK, DAEMON_PAUSED, DAEMON_JOBS = "daemon:lease", "daemon:paused", "daemon:jobs"
STALE_S = 60.0
"""A daemon on another machine without a heartbeat for so long counts as dead."""
_IS_LEASED = (HOST.c.lease_until > 0, HOST.c.lease_until > bindparam("now"))  # the first one lets an index serve
# Runs of others that began before `run` and have not ended. The last column: it leases a host now.
_EARLIER_RUNS = (
    select(
        RUN.c.owner, RUN.c.strategy, RUN.c.started_at, exists().where(*_IS_LEASED, HOST.c.lease_owner == RUN.c.owner)
    )
    .where(RUN.c.id < bindparam("run"), RUN.c.ended_at.is_(None), RUN.c.owner != bindparam("owner"))
    .order_by(RUN.c.id)
)
_OF_DAY = select(DAILY.c.name, DAILY.c.value).where(DAILY.c.day == bindparam("day"))
_ANY_RUN = 2**62
"""Above the number of every run."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The daemon that has the lock of a database, as the row in `meta` describes it."""

    machine: str
    pid: int
    since: float
    beat: float
    started_ticks: int
    """Kernel ticks from boot to the start of the process: distinguish it from a later process with the same number."""
    state: str = ""
    """What the daemon does at present, as a line for a person."""
    boot: str = ""
    namespace: str = ""
    """As in `Owner`; '' in the rows of former versions."""

    @property
    def owner(self) -> Owner:
        """Return the process of the daemon."""
        return Owner(self.machine, self.pid, self.started_ticks, self.boot, self.namespace)

    def is_this_process(self) -> bool:
        """Return whether the daemon is this process, which could not release the lock before."""
        here = this_process()
        return (self.machine, self.pid, self.namespace or here.namespace) == (here.machine, here.pid, here.namespace)

    def is_dead(self, now: float) -> bool:
        """Return whether the daemon ended without releasing the lock: whether its process is gone, or, where that
        cannot be seen (on another machine, in another container), whether its heartbeat is old."""
        running = self.owner.is_running(this_process())
        return not -STALE_S < now - self.beat < STALE_S if running is None else not running


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
    return tuple(JobRun(**each) for each in json.loads(stored_fact(connection, DAEMON_JOBS) or "[]"))


def read_holder(connection: Connection) -> Holder | None:
    """Return the daemon that has the lock, alive or not; None when there is none."""
    text = stored_fact(connection, DAEMON_LOCK)
    return Holder(**json.loads(text)) if text else None


def alive_holder(connection: Connection, now: float) -> Holder | None:
    """Return the daemon that runs on the database; None when none does."""
    holder = read_holder(connection)
    return None if holder is None or holder.is_dead(now) else holder


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


def earlier_runs(connection: Connection, run: int, here: Owner, now: float) -> list[OtherRun]:
    """Return the crawls of other processes than `here` that began before `run` and still run, the earliest first."""
    rows = connection.execute(_EARLIER_RUNS, {"run": run, "owner": here.text, "now": now}).fetchall()
    found = [(OtherRun(Owner.read(owner), strategy, moment(since)), holds) for owner, strategy, since, holds in rows]
    return [other for other, holds in found if _is_running(other.owner, here, holds=holds)]


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

    def is_running(self) -> bool | None:
        """Return whether it runs, with the start time that was stored; None when this process cannot tell, as for one
        on another machine or in another container, and for one whose start time is not known."""
        return self.owner.is_running(this_process()) if self.owner.started else None


def working_processes(connection: Connection, now: float) -> list[WorkingProcess]:
    """Return the daemon, crawls and harvests of other processes than this one that run on the database."""
    here, found = this_process(), list[WorkingProcess]()
    holder = alive_holder(connection, now)
    if holder is not None and not holder.is_this_process():
        found.append(WorkingProcess("daemon", holder.owner, moment(holder.since)))
    for other in earlier_runs(connection, _ANY_RUN, here, now):
        found.append(WorkingProcess("harvest" if other.strategy == "harvest" else "crawl", other.owner, other.since))
    return found


def _is_running(owner: Owner, here: Owner, *, holds: bool) -> bool:
    known = owner.is_running(here)
    return holds if known is None else known


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
    leases = dict(connection.execute(_LEASES, {"now": now}).fetchall())
    here, found, learner = this_process(), list[Worker](), stored_fact(connection, LEARNER)
    for text, strategy, since, crawl in _processes(connection):
        owner, note = Owner.read(text), json.loads(stored_fact(connection, BEAT + text) or "{}")
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
    for run, owner, strategy, since in connection.execute(_OPEN_RUNS).fetchall():
        yield owner, strategy, since, ""
        prefix = f"{MEMBER}{run}:"
        for name, value in connection.execute(_MEMBERS, {"names": f"{prefix}%"}).fetchall():
            if (member := name.removeprefix(prefix)) != owner:
                yield member, strategy, float(json.loads(bytes(value))["since"]), owner
