"""Run a helper of a crawl: a process that takes part in what the first one began, on the same database.

It is forked before that one has threads, an event loop or a database, waits until the database is ready, crawls with
leases of its own like any other crawl, and tells what it did. It ends when the first process says so or is gone.
"""

from __future__ import annotations

import asyncio
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app.helper_messages import Begin, Channel, Ended, Reporter, Stop, listen
from geocrawl.errors import GeocrawlError

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.app.shared_slots import SharedSlots
    from geocrawl.crawler.loop import Crawler
    from geocrawl.crawler.summary import RunSummary
    from geocrawl.settings import Settings
    from geocrawl.store import Store
    from geocrawl.urls.database import Place

_LEAST_S = 0.001
"""The time that is left to a helper which begins when the time is up; 0 would mean no limit."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a helper is to do."""

    settings: Settings
    """Those of the crawl, with this process's share of the concurrent visits."""
    place: Place
    record: Path | None
    slots: SharedSlots


def run_helper(task: Task, channel: Channel) -> None:
    """Take part in a crawl until its end. The entry point of a helper's process."""
    for number in (signal.SIGINT, signal.SIGHUP):  # of the terminal, for all: the first process says what they mean
        signal.signal(number, signal.SIG_IGN)
    try:
        begin = channel.recv()
    except (EOFError, OSError):  # the first process could not begin
        return
    reporter = Reporter(channel)
    try:
        if isinstance(begin, Begin):
            reporter.send(Ended(_crawl(task, begin, channel, reporter)))
    except GeocrawlError as error:
        reporter.send(Ended(None, str(error)))
    except Exception:
        reporter.send(Ended(None, traceback.format_exc()))


def _crawl(task: Task, begin: Begin, channel: Channel, reporter: Reporter) -> RunSummary:
    from geocrawl.app import wiring
    from geocrawl.app.run import run_session

    settings, clock = task.settings, wiring.system_clock()
    if begin.ends_at is not None:
        settings = replace(settings, max_time_s=max(begin.ends_at - time.monotonic(), _LEAST_S))
    retrying = wiring.retry_policy(settings, task.place, clock, reporter)

    def join(store: Store) -> Session:
        store.begin_helping(begin.crawl)
        session = wiring.make_session(settings, store, clock)
        session.learning.restore()
        return session

    with retrying.opened(join) as session:
        others = _First(task.slots, channel)
        summary = run_session(session, reporter, retrying, max_pages=0, record=task.record, others=others)
        session.store.end_helping()
        return summary


class _First:
    """`Others` for a helper: the first process."""

    signals = (signal.SIGTERM,)
    under_way = 0

    def __init__(self, slots: SharedSlots, channel: Channel) -> None:
        self.slots = slots
        self._channel = channel

    @contextmanager
    def heard(self, session: Session, crawler: Crawler) -> Iterator[None]:
        """Stop when the first process says so, or when it has gone."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            try:
                message = self._channel.recv()
            except (EOFError, OSError):
                loop.remove_reader(self._channel.fileno())
                message = Stop(at_once=False)
            if isinstance(message, Stop):
                crawler.stop("signal", at_once=message.at_once)

        listen(self._channel, hear)
        try:
            yield
        finally:
            loop.remove_reader(self._channel.fileno())

    def stop(self, *, at_once: bool) -> None:
        """Do nothing: SIGTERM to a helper ends that one alone."""

    async def ended(self, summary: RunSummary) -> RunSummary:
        """Return the summary: a helper has started no process."""
        return summary
