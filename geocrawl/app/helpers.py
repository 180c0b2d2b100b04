"""Start the helpers of a crawl, follow what they do, and end them (`crawl --processes`).

They crawl on the same database with leases, delays and budgets of their own like crawls that a person starts side by
side (docs/decisions/013 and 016). What one process alone can hold is held here: the limits on pages and time, the stop
by a person, one display and one summary.
"""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app.helper import Task, run_helper
from geocrawl.app.helper_messages import Begin, Channel, Done, Ended, Noted, Stop, listen
from geocrawl.app.run import NO_LIMIT, STOPS
from geocrawl.app.shared_slots import SlotTable
from geocrawl.crawler.summary import RunSummary
from geocrawl.errors import DatabaseFault, UsageError
from geocrawl.model import Lease
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.crawler.loop import Crawler
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings
    from geocrawl.urls.database import Place

LOADED = (
    "geocrawl.app.crawl",
    "geocrawl.crawler.loop",
    "geocrawl.fetch.fetcher",
    "geocrawl.page.document",
    "geocrawl.probe.registry",
    "geocrawl.store.catalog.catalog",
    "geocrawl.store.frontier.frontier",
)
"""Modules that load nearly all others of a crawl: once, before the helpers are forked."""
_GRACE_S = 10.0
"""Seconds beyond `settle_s` that a helper may take to end after a stop; then it is killed, which loses nothing settled.
"""
_AT_ONCE_S = 3.0
_LOOK_S = 0.05
_MOST_CONTEXTS = 10_000


class _Helper:
    """A helper's process as the first one sees it."""

    def __init__(self, number: int, process: BaseProcess, channel: Channel) -> None:
        self.number = number
        self.process = process
        self.channel = channel
        self.counted = RunSummary()
        """What it has told so far: all that is known of one that was killed."""
        self.summary: RunSummary | None = None
        self.has_ended = False
        """Whether its last message came."""
        self.is_heard = True
        self.contexts: dict[int, contextvars.Context] = {}
        """By entry, where log lines of its visit find the visit's id."""


@contextmanager
def started_helpers(settings: Settings, place: Place, record: Path | None) -> Iterator[Helpers]:
    """Start the further processes of a crawl by several. None of them is left in the end.

    To be called before there are threads. Raises UsageError when there are not as many visits at a time as processes.
    """
    count = settings.processes
    if settings.workers < count:
        raise UsageError(
            f"--processes {count}: --workers {settings.workers} is the number of visits at a time of all processes; "
            f"give --workers {count} or more"
        )
    if str(place) == ":memory:":
        raise UsageError(f"--processes {count}: a database in memory cannot be shared; name a file with --db")
    for name in LOADED:
        import_module(name)
    helpers = Helpers(settings, place, record)
    try:
        yield helpers
    finally:
        helpers.close()


def share_of(settings: Settings, process: int) -> Settings:
    """Return the settings of one of the processes: its share of the visits at a time and of what reads answers."""
    count = settings.processes
    return replace(
        settings,
        workers=_share(settings.workers, process, count),
        reading_processes=min(settings.reading_processes, max(_share(settings.reading_processes, process, count), 1)),
    )


def _share(total: int, process: int, count: int) -> int:
    return total // count + (process < total % count)


class Helpers:
    """`Others` for the first process: its helpers."""

    signals = STOPS

    def __init__(self, settings: Settings, place: Place, record: Path | None) -> None:
        """Fork the helpers, which wait until `heard`."""
        self.own = share_of(settings, 0)
        """The first process's settings."""
        self._max_time_s, self._settle_s = settings.max_time_s, settings.settle_s
        self._table = SlotTable(settings.processes, settings.max_pages or NO_LIMIT)
        self.slots = self._table.of(0)
        self._observer: Observer | None = None
        self._session: Session | None = None
        self._crawler: Crawler | None = None
        self._kill_at: float | None = None
        self._shown: set[str] = set()
        self._helpers: list[_Helper] = []
        context = multiprocessing.get_context("fork")
        for number in range(1, settings.processes):
            ours, theirs = context.Pipe()
            task = Task(share_of(settings, number), place, record, self._table.of(number))
            # Its copies of our ends would keep the helpers' channels open when this process is killed.
            not_its = [*(helper.channel for helper in self._helpers), ours]
            process = context.Process(target=_run, args=(task, theirs, not_its), daemon=True)
            process.start()
            theirs.close()
            self._helpers.append(_Helper(number, process, ours))

    def report_to(self, observer: Observer) -> None:
        """Show what the helpers do to `observer`."""
        self._observer = observer

    @property
    def under_way(self) -> int:
        """Return the number of pages that the helpers are visiting."""
        return self._table.under_way(but=0)

    @contextmanager
    def heard(self, session: Session, crawler: Crawler) -> Iterator[None]:
        """Let the helpers begin, and heed what they tell while the loop runs."""
        self._session, self._crawler = session, crawler
        ends_at = time.monotonic() + self._max_time_s if self._max_time_s else None
        for helper in self._helpers:
            self._tell(helper, Begin(session.store.owner, ends_at))
            listen(helper.channel, self._hear, helper)
        try:
            yield
        finally:
            for helper in self._helpers:
                self._stop_hearing(helper)

    def stop(self, *, at_once: bool) -> None:
        """Let the helpers' visits settle, or cut them off."""
        left_s = _AT_ONCE_S if at_once else self._settle_s + _GRACE_S
        self._kill_at = min(time.monotonic() + left_s, self._kill_at or float("inf"))
        for helper in self._helpers:
            self._tell(helper, Stop(at_once))

    async def ended(self, summary: RunSummary) -> RunSummary:
        """Wait until all helpers have ended, those that do not after a stop are killed; return what all did."""
        assert self._session is not None and self._crawler is not None, "the loop has run"
        if self._crawler.stopping:
            self.stop(at_once=summary.stopped == "max-time")
        while running := [helper for helper in self._helpers if helper.is_heard]:
            if self._kill_at is not None and time.monotonic() > self._kill_at:
                for helper in running:
                    helper.process.kill()
            await asyncio.sleep(_LOOK_S)
            with suppress(DatabaseFault):  # what could not be learnt now is learnt by the next crawl
                await self._session.learning.keep_up()
        for helper in self._helpers:
            summary.add(helper.summary or helper.counted)
        return summary

    def close(self) -> None:
        """End what still runs, because the first process could not run to its end."""
        for helper in self._helpers:
            helper.channel.close()  # a helper that finds nobody at the other end settles its visits and ends
        ends_at = time.monotonic() + self._settle_s + _GRACE_S
        for helper in self._helpers:
            helper.process.join(max(ends_at - time.monotonic(), 0.0))
            if helper.process.is_alive():
                helper.process.kill()
                helper.process.join()
        self._table.close()

    def _tell(self, helper: _Helper, message: object) -> None:
        with suppress(OSError):  # it has ended, which is heard
            helper.channel.send(message)

    def _hear(self, helper: _Helper) -> None:
        """Read messages of a helper, or its end."""
        try:
            messages = helper.channel.recv()
        except (EOFError, OSError):
            self._stop_hearing(helper)
            self._note_end(helper)
            return
        for message in messages:
            self._heed(helper, message)

    def _heed(self, helper: _Helper, message: object) -> None:
        assert self._observer is not None, "someone follows the crawl"
        if isinstance(message, Done):
            visit = message.visit
            helper.counted.count(visit, message.result)
            context = helper.contexts.pop(visit.lease.entry.id, None) or contextvars.copy_context()
            context.run(self._observer.settled, visit.lease.entry, visit, message.result)
        elif isinstance(message, Lease):
            context = helper.contexts[message.entry.id] = contextvars.copy_context()
            context.run(self._observer.leased, message)
            if len(helper.contexts) > _MOST_CONTEXTS:  # visits that were given back
                del helper.contexts[next(iter(helper.contexts))]
        elif isinstance(message, Noted):
            self._note(message.text)
        elif isinstance(message, Ended):
            helper.summary, helper.has_ended = message.summary, True
            if message.error:
                self._note(f"Helper process {helper.process.pid} ends: {message.error}")

    def _note(self, text: str) -> None:
        """Show a line, once of those that several processes tell."""
        assert self._observer is not None, "someone follows the crawl"
        if text not in self._shown:
            self._shown.add(text)
            self._observer.noted(text)

    def _stop_hearing(self, helper: _Helper) -> None:
        if helper.is_heard:
            helper.is_heard = False
            asyncio.get_running_loop().remove_reader(helper.channel.fileno())

    def _note_end(self, helper: _Helper) -> None:
        """Take back what a helper had that ended without its last message: pages and leases."""
        helper.process.join(_AT_ONCE_S)
        if helper.process.is_alive():  # without a channel nobody can stop it, and this one must not wait for it
            helper.process.kill()
            helper.process.join()
        lost = self._table.forget(helper.number)
        if helper.has_ended or self._session is None:
            return
        code = helper.process.exitcode or 0
        how = f"was killed (signal {-code})" if code < 0 else f"ended unforeseen (exit code {code})"
        pages = counted(lost, "page")
        self._note(
            f"Helper process {helper.process.pid} {how}; {pages} under way there will be visited again, and the crawl "
            "goes on without it."
        )
        with suppress(DatabaseFault):  # else its leases run out
            self._session.frontier.release_dead()


def _run(task: Task, channel: Channel, not_its: Sequence[Channel]) -> None:
    for other in not_its:
        other.close()
    run_helper(task, channel)
