"""Run a session's loop until it ends or a signal comes, and wait when its database cannot be written."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import fetchers, wiring
from geocrawl.app.fetchers import session_renderer
from geocrawl.crawler.loop import Crawler
from geocrawl.crawler.report import RunSummary
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.ports import Observer
from geocrawl.resources import allow_open_files, long_run
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.app.processes import Processes
    from geocrawl.app.retry_policy import RetryPolicy
    from geocrawl.app.session import Session
    from geocrawl.store import SharedRun


STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run: Ctrl-C, a service manager's, the end of the terminal."""
NO_LIMIT = sys.maxsize
"""An effectively unlimited number of pages."""


def run_session(
    session: Session,
    observer: Observer,
    retrying: RetryPolicy,
    *,
    max_pages: int,
    run: int | None = None,
    record: Path | None = None,
    processes: Processes | None = None,
    shared: SharedRun | None = None,
) -> RunSummary:
    """Run the loop and return a summary. Ctrl-C or SIGTERM lets the visits under way settle and ends the run; a
    second Ctrl-C cuts them off.

    `run`: the number of the run in the database, where its end is recorded. `record`: a WARC file to which every answer
    is appended. `processes`: the further processes of the crawl, which this one started; `shared`: the run in which it
    takes part, if another one started it. Raises PassingFault when the database cannot be written for longer than
    `retrying` waits, DatabaseFault for a fault that lasts, such as a damaged file.
    """
    if few := allow_open_files(session.settings.workers):
        observer.noted(few)
    new_loop = session.environment.new_loop if session.environment else _fast_loop()
    with long_run(), asyncio.Runner(loop_factory=new_loop) as runner:
        summary = runner.run(_run(session, observer, retrying, max_pages, record, processes, shared))
    if summary.stopped == "interrupt":  # stored and reported like any signal
        summary.stopped, summary.interrupted = "signal", True
    retrying.call(session.learning.end)
    if run is not None:
        pages, services, stopped = summary.pages, summary.valid, summary.stopped
        retrying.call(lambda: session.store.end_run(run, pages=pages, services=services, stopped=stopped))
    return summary


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes uvloop's event loop where it is installed (the extra `speed`); None for Python's own."""
    try:
        import uvloop
    except ImportError:
        return None
    new_loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return new_loop


async def _run(
    session: Session,
    observer: Observer,
    retrying: RetryPolicy,
    max_pages: int,
    record: Path | None,
    processes: Processes | None,
    shared: SharedRun | None,
) -> RunSummary:
    run = session.store.runner.run
    fetcher = await run(fetchers.make_session_fetcher, session, record, say=observer.noted)
    try:
        async with session_renderer(session, observer.noted) as renderer:
            crawler = await run(wiring.make_crawler, session, observer, fetcher, max_pages=max_pages, renderer=renderer)
            say = observer.noted if shared is None else lambda text: None  # the first process tells of a stop
            with _stopped_by_signals(crawler, say, processes):
                async with _counted(session), _reported(session, shared, crawler):
                    if processes is None:
                        return await _run_retrying(session, crawler, retrying)
                    async with processes.watched(observer):
                        summary = await _run_retrying(session, crawler, retrying)
                        with suppress(DatabaseFault):  # else the learner's role runs out
                            await run(session.learning.end)
                        return await processes.ended(summary)
    finally:
        await fetcher.close()


def _counted(session: Session) -> AbstractAsyncContextManager[None]:
    """Count every second what waits, for displays."""
    return nullcontext() if session.environment else _repeated(session.stats.refresh)


def _reported(session: Session, shared: SharedRun | None, crawler: Crawler) -> AbstractAsyncContextManager[None]:
    """Store every second, and in the end, what this process has done, if it takes part in another one's run."""
    if shared is None:
        return nullcontext()
    return _repeated(lambda: session.store.runner.run(shared.report, asdict(crawler.summary)))


@asynccontextmanager
async def _repeated(do: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Do something with the database at once, every second, and in the end, as far as it can be used."""

    async def do_again_and_again() -> None:
        while True:
            with suppress(DatabaseFault):
                await do()
            await asyncio.sleep(1.0)

    repeating = asyncio.create_task(do_again_and_again())
    try:
        yield
    finally:
        repeating.cancel()
        await asyncio.wait((repeating,))
        with suppress(DatabaseFault):
            await do()


async def _run_retrying(session: Session, crawler: Crawler, retrying: RetryPolicy) -> RunSummary:
    """Run the loop; after a fault of the database, wait and make the visits that were under way again."""
    before = 0

    async def note_success() -> None:
        if crawler.summary.visits > before:
            retrying.reset()

    while True:
        before = crawler.summary.visits
        try:
            async with _repeated(note_success):
                return await crawler.run()
        except PassingFault as fault:
            if crawler.stopping:
                retrying.hasten()
            await retrying.until_writable(fault, session.store, session.frontier.release_all, lambda: crawler.stopping)


@contextmanager
def _stopped_by_signals(crawler: Crawler, say: Callable[[str], object], processes: Processes | None) -> Iterator[None]:
    """Stop the crawler on Ctrl-C, SIGTERM and, unless the process ignores it (`nohup`), when the terminal is closed."""
    loop, signals = asyncio.get_running_loop(), list(STOPS)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signals.remove(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, _stop, crawler, number, say, processes)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _stop(crawler: Crawler, number: signal.Signals, say: Callable[[str], object], processes: Processes | None) -> None:
    """Let running visits settle at the first signal, and cut them off at a second Ctrl-C."""
    is_second = crawler.stopping
    at_once = is_second and number == signal.SIGINT
    crawler.stop("interrupt" if number == signal.SIGINT else "signal", at_once=at_once)
    if processes is not None:
        processes.stop(at_once=at_once)
    if not is_second:
        what = f"{counted(crawler.under_way, 'request')} under way" + (" in this process" if processes else "")
        say(f"Stopping, {what} (Ctrl-C again: at once).")
