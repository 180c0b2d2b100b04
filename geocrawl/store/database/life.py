"""Know which processes live: each that works on a database beats there, from a thread of its own.

A beat is a fact `worker:OWNER` that changes every `BEAT_S`. A process is silent for another one that has beaten
`SILENT_BEATS` times while it did not beat once. So no clocks are compared, and a time in which nobody could write, or
this machine slept, counts for nobody. An end is known at once where the kernel, or the server, gives up what a process
holds (`Connection.hold`): a lock on a file beside SQLite's, an advisory lock of PostgreSQL. Where that cannot be seen,
who is silent has ended.

A process that was stopped and goes on may find its leases and roles taken: the fencing number of a lease is checked in
the transaction that settles a visit, and before each request.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, or_, select

from geocrawl.errors import DatabaseFault
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.schema.tables import META

if TYPE_CHECKING:
    from geocrawl.ports import Clock
    from geocrawl.store.database.connection import Connection

LEARNER = "strategy:learner"
"""Key of the owner of the learner's role (`store/frontier/learner.py`)."""
MEMBER = "member:"
"""Facts of this name, a run and an owner: since when the process takes part in the run, as JSON (`SharedRun`)."""
BEAT = "worker:"
"""Facts of this name and an owner: the last beat of the process and how many visits it has settled, as JSON."""
STOP = "stop:"
"""Facts of this name and an owner: a person asked the process to end."""
BEAT_S = 4.0
"""Seconds between two beats."""
SILENT_BEATS = 5
"""Beats of another process during which a living one beats at least once."""
SILENT_S = 30.0
"""Who has not beaten itself, as a command that shows the state, takes a process whose last beat is older for ended."""
_BUSY_S = 1.0
_RATE_S = 10.0
_FORGOTTEN_S = 86_400.0
_FACT = select(META.c.value).where(META.c.name == bindparam("name"))
_BEATS = select(META.c.name, META.c.value).where(or_(META.c.name.startswith(BEAT), META.c.name == bindparam("stop")))
_WRITE = upsert(META, "name")
_FORGET = delete(META).where(META.c.name == bindparam("name"))


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that has a lease, a run or the daemon's lock; stored as `machine token:pid`."""

    machine: str
    pid: int
    token: str = ""
    """What tells it from every other process of this number, on any machine and at any time."""

    @classmethod
    def read(cls, text: str) -> Owner:
        """Return the owner that `text` names; pid 0 for an invalid text."""
        facts, _, pid = text.rpartition(":")
        machine, _, token = facts.partition(" ")
        return cls(machine, int(pid) if pid.isdecimal() else 0, token)

    @property
    def text(self) -> str:
        """Return the owner as it is stored, for `read`."""
        return f"{self.machine} {self.token}:{self.pid}" if self.token else self.short

    @property
    def short(self) -> str:
        """Return `machine:pid`."""
        return f"{self.machine}:{self.pid}"

    def __str__(self) -> str:
        return f"process {self.pid} on {self.machine}" if self.machine else "another process"


class Life:
    """The life of this process on one database, and what it knows of others'."""

    def __init__(self, clock: Clock, connect: Callable[[], Connection] | None) -> None:
        """`connect` opens a connection for the beats; None where no other process can use the database."""
        self.owner = Owner(socket.gethostname(), os.getpid(), secrets.token_hex(4)).text
        self.settled = 0
        """Visits that this process has settled."""
        self.has_thread = True
        """Whether a thread beats; else, where time is virtual, somebody calls `beat`."""
        self.connection: Connection | None = None
        """The connection of the beats while they last."""
        self._clock = clock
        self._connect = connect
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._beats = 0
        self._heard: dict[str, tuple[bytes, int]] = {}
        """Owner → its last beat, and the number of this process's beat at which it was new."""
        self._silent: frozenset[str] = frozenset()
        self._rate: tuple[int, float, float | None] = (0, clock.monotonic(), None)
        """Settled visits at a moment of the monotonic clock, and how many they were a minute until then."""

    def begin(self) -> None:
        """Beat from now on, before anything is leased; no effect when called again. Raises DatabaseFault."""
        if self.connection is not None or self._connect is None:
            return
        connection = self._connect()
        try:
            connection.wait_for_lock(round(_BUSY_S * 1000))
            self.connection = connection
            self.beat()
        except BaseException:
            self.connection = None
            connection.close()
            raise
        if self.has_thread:
            self._thread = threading.Thread(target=self._go_on, name="heartbeat", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Say that this process has ended, so that others take at once what it has left."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        with suppress(DatabaseFault):  # else the end of the connection says it
            connection.execute(
                _WRITE,
                {"name": BEAT + self.owner, "value": json.dumps({"at": self._clock.now(), "ended": True}).encode()},
            )
            connection.execute(_FORGET, {"name": STOP + self.owner})
        connection.close()

    def _go_on(self) -> None:
        while not self._ending.wait(BEAT_S):
            with suppress(DatabaseFault):  # locked, or a full disk: the next beat may be written
                self.beat()

    def beat(self) -> None:
        """Beat once, and listen to the others. Raises DatabaseFault when that cannot be written."""
        connection = self.connection
        if connection is None:
            return
        now = self._clock.now()
        is_held = connection.hold(self.owner)
        beat = {"at": now, "beat": self._beats, "held": is_held, "settled": self.settled, "a_minute": self._a_minute()}
        connection.execute(_WRITE, {"name": BEAT + self.owner, "value": json.dumps(beat).encode()})
        self._beats += 1
        rows = connection.execute(_BEATS, {"stop": STOP + self.owner}).fetchall()
        self._listen(rows)
        if self._beats == 1:
            for name, value in rows:
                if now - float(json.loads(bytes(value) or b"{}").get("at", now)) > _FORGOTTEN_S:
                    connection.execute(_FORGET, {"name": name})
        if self.has_thread and any(name.startswith(STOP) for name, _ in rows):
            connection.execute(_FORGET, {"name": STOP + self.owner})
            os.kill(os.getpid(), signal.SIGTERM)

    def _listen(self, rows: list[Any]) -> None:
        heard = {}
        for name, value in rows:
            former, beat = self._heard.get(name), bytes(value)
            heard[name] = former if former is not None and former[0] == beat else (beat, self._beats)
        self._heard = heard
        silent = (name for name, (_, since) in heard.items() if self._beats - since >= SILENT_BEATS)
        self._silent = frozenset(name.removeprefix(BEAT) for name in silent)

    def _a_minute(self) -> float | None:
        settled, at, rate = self._rate
        if (passed_s := self._clock.monotonic() - at) >= _RATE_S:
            rate = round((self.settled - settled) / passed_s * 60, 1)
            self._rate = (self.settled, self._clock.monotonic(), rate)
        return rate

    def has_ended(self, owner: str, connection: Connection) -> bool:
        """Return whether another process has ended, as far as this one knows; `connection`: the caller's own.

        A process that is stopped and still holds its name has not: its last request may be under way for long."""
        if owner in ("", self.owner):
            return False
        beat = read_beat(connection, owner)
        is_held = connection.is_held(owner) if beat.get("held") else None
        return "ended" in beat or is_held is False or (is_held is None and owner in self._silent)

    def is_silent(self, owner: str) -> bool:
        """Return whether another process has not beaten for long: it has ended or is stopped."""
        return owner in self._silent


def read_beat(connection: Connection, owner: str) -> dict[str, Any]:
    """Return the last beat of a process: at, settled, a_minute …; {} when it never beat."""
    row = connection.execute(_FACT, {"name": BEAT + owner}).fetchone()
    beat: dict[str, Any] = json.loads(bytes(row[0])) if row else {}
    return beat


def is_alive(connection: Connection, owner: str, now: float) -> bool:
    """Return whether a process works on the database, for somebody who has not listened to its beats before."""
    beat = read_beat(connection, owner)
    if not beat or "ended" in beat or (beat.get("held") and connection.is_held(owner) is False):
        return False
    return abs(now - float(beat["at"])) < SILENT_S
