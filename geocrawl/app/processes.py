"""Crawl with several processes on one database (`crawl --processes`).

Each is an ordinary crawl with a share of the concurrent visits. Leases, delays, bounds and the learner's role stand in
the database, and so does what the processes of one run share: the limit on pages, and what each has done
(`store.SharedRun`). The first process starts the others once the database is ready, passes a stop on to them, waits for
their end and reports the counts of all. A process whose standard input closes has lost the first one, and stops as
after SIGTERM.
"""

from __future__ import annotations

import asyncio
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from geocrawl.crawler.report import LostProcess, RunSummary
from geocrawl.errors import DatabaseFault, UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.ports import Observer
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.urls.database import DatabaseUrl

_GRACE_S = 10.0
"""Seconds beyond `settle_s` that a process may take to end after a stop; then it is killed."""
_AT_ONCE_S = 3.0
_LOOK_S = 0.1
_REPORTED_EVERY_S = 1.0
_LEAST_S = 0.001
"""Shortest limit on the time of a run; 0 means no limit."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a further process of a crawl is to do."""

    settings: Settings
    """Those of the crawl, with this process's share of the concurrent visits."""
    place: DatabaseUrl
    record: Path | None
    run: int
    """Number of the run in the database."""
    ends_at: float | None
    """When the time of the crawl is up, by `time.monotonic` of this machine; None: never."""

    def timed_settings(self) -> Settings:
        """Return the settings with the time that is left."""
        if self.ends_at is None:
            return self.settings
        return replace(self.settings, max_time_s=max(self.ends_at - time.monotonic(), _LEAST_S))


class Processes:
    """The further processes of a crawl, as the first one sees them."""

    def __init__(self, settings: Settings, place: DatabaseUrl, record: Path | None, command: Sequence[str]) -> None:
        """Start none yet. `command`: what each runs; it reads its task by `read_task`.

        Raises UsageError when there are not as many visits at a time as processes.
        """
        count = settings.processes
        if settings.workers < count:
            raise UsageError(
                f"--processes {count}: --workers {settings.workers} is the number of requests at a time of all "
                f"processes; give --workers {count} or more"
            )
        if str(place) == ":memory:":
            raise UsageError(f"--processes {count}: a database in memory cannot be shared; name a file with --db")
        self.own = share_of(settings, 0)
        """The first process's settings."""
        self.is_silent = False
        """Whether they write nothing to standard error, because a display is there."""
        self._settings = settings
        self._place = place
        self._record = record
        self._command = command
        self._run: int | None = None
        self._running: list[subprocess.Popen[bytes]] = []
        self._kill_at: float | None = None
        self._others = RunSummary()
        self._lost: list[LostProcess] = []

    def start(self, run: int) -> None:
        """Start the processes: the database is ready, and the run has begun."""
        self._run = run
        ends_at = time.monotonic() + self._settings.max_time_s if self._settings.max_time_s else None
        for number in range(1, self._settings.processes):
            task = Task(share_of(self._settings, number), self._place, self._record, run, ends_at)
            process = subprocess.Popen(  # noqa: S603 our own program
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if self.is_silent else None,
            )
            self._running.append(process)
            with suppress(BrokenPipeError):  # it ended at once, which is told in the end
                assert process.stdin is not None, "it is a pipe"
                pickle.dump(task, process.stdin)
                process.stdin.flush()

    def stop(self, *, at_once: bool) -> None:
        """Let the visits of the other processes settle, or cut them off."""
        left_s = _AT_ONCE_S if at_once else self._settings.settle_s + _GRACE_S
        self._kill_at = min(time.monotonic() + left_s, self._kill_at or float("inf"))
        for process in self._running:  # a second signal of a terminal's Ctrl-C cuts its visits off
            process.send_signal(signal.SIGINT if at_once else signal.SIGTERM)

    @asynccontextmanager
    async def watched(self, observer: Observer) -> AsyncIterator[None]:
        """Tell `observer` when a process ends unforeseen; its leases end then, as it is no zombie. Read what the
        others have done, for displays."""

        async def watch() -> None:
            read_at = -math.inf
            while True:
                await asyncio.sleep(_LOOK_S)
                self._reap(observer)
                if time.monotonic() - read_at > _REPORTED_EVERY_S:
                    read_at = time.monotonic()
                    with suppress(DatabaseFault):
                        self._others = await asyncio.to_thread(self._read_counts)

        watching = asyncio.create_task(watch())
        try:
            yield
        finally:
            watching.cancel()

    def _reap(self, observer: Observer) -> None:
        for process in self._running:
            if process.returncode is None and (code := process.poll()) and self._kill_at is None:
                self._lost.append(LostProcess(process.pid, code))
                observer.noted(self._lost[-1].line)

    async def ended(self, summary: RunSummary) -> RunSummary:
        """Wait until all others have ended, those that do not after a stop are killed; return what all did."""
        if summary.stopped == "max-time":
            self.stop(at_once=True)
        while any(process.returncode is None for process in self._running):
            if self._kill_at is not None and time.monotonic() > self._kill_at:
                for process in self._running:
                    process.kill()
            await asyncio.sleep(_LOOK_S)
        return replace(summary.plus(await asyncio.to_thread(self._read_counts)), lost=tuple(self._lost))

    def counts(self) -> RunSummary:
        """Return what the other processes have done, as it was read last; any thread may ask."""
        return self._others

    def close(self) -> None:
        """End what still runs: a process whose standard input closes settles its visits and ends."""
        for process in self._running:
            with suppress(OSError):
                process.stdin and process.stdin.close()
        ends_at = time.monotonic() + self._settings.settle_s + _GRACE_S
        for process in self._running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(ends_at - time.monotonic(), 0.0))
            process.kill()
            process.wait()

    def _read_counts(self) -> RunSummary:
        counts = RunSummary()
        if self._run is not None:
            with Store.join(self._place, clock=SystemClock()) as store:
                for report in store.run_reports(self._run):
                    counts = counts.plus(RunSummary(**report))
        return counts


def share_of(settings: Settings, process: int) -> Settings:
    """Return the settings of one of the processes: its share of the visits at a time, of what reads answers and of what
    one host is asked for."""
    count = settings.processes
    shared: dict[str, Any] = {name: _share(getattr(settings, name), process, count) for name in _SHARED}
    return replace(
        settings,
        **shared,
        reading_processes=min(settings.reading_processes, max(_share(settings.reading_processes, process, count), 1)),
    )


_SHARED = (
    *("workers", "map_requests_per_host", "siblings", "browser_pages_per_host"),
    *("max_scripts_per_host", "host_scripts_bytes"),
)
"""Settings that bound all processes of a crawl together, as none knows what the others have spent."""


def _share(total: int, process: int, count: int) -> int:
    return total // count + (process < total % count)


# --------------------------------------------------------------------------- in a further process


def read_task() -> Task:
    """Return the task that the first process wrote to standard input, and watch that input until the process ends.

    Its bytes are read without `sys.stdin`, whose lock a thread may not hold when Python ends: that is fatal (SIGABRT).
    """
    task: Task = pickle.load(sys.stdin.buffer)  # noqa: S301 of a process of our own
    given = sys.stdin.fileno()

    def watch() -> None:
        while os.read(given, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="first process", daemon=True).start()
    return task
