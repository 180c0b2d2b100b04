"""Run a session's loop until it ends or a signal comes, and wait when its database cannot be written."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import fetchers, wiring
from geocrawl.app.collector import long_run
from geocrawl.app.renderers import session_renderer
from geocrawl.errors import PassingFault
from geocrawl.resources import allow_open_files
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.app.others import Others
    from geocrawl.app.retry_policy import RetryPolicy
    from geocrawl.app.session import Session
    from geocrawl.crawler.loop import Crawler
    from geocrawl.crawler.summary import RunSummary
    from geocrawl.ports import Observer


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
    others: Others | None = None,
) -> RunSummary:
    """Run the loop and return a summary. Ctrl-C or SIGTERM lets the visits under way settle and ends the run; a
    second Ctrl-C cuts them off.

    `run`: the number of the run in the database, where its end is recorded. `record`: a WARC file to which every answer
    is appended. `others`: the other processes of the same crawl, with which it shares the limit on pages. Raises
    PassingFault when the database cannot be written for longer than `retrying` waits, DatabaseFault for a fault that
    lasts, such as a damaged file.
    """
    if few := allow_open_files(session.settings.workers):
        observer.noted(few)
    new_loop = session.environment.new_loop if session.environment else _fast_loop()
    with long_run(), asyncio.Runner(loop_factory=new_loop) as runner:
        summary = runner.run(_run(session, observer, retrying, max_pages, record, others))
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
    others: Others | None,
) -> RunSummary:
    fetcher = fetchers.make_session_fetcher(session, record, say=observer.noted)
    slots = others.slots if others else None
    try:
        async with session_renderer(session, observer.noted) as renderer:
            crawler = wiring.make_crawler(
                session, observer, fetcher, max_pages=max_pages, pages=slots, renderer=renderer
            )
            with _stopped_by_signals(crawler, observer.noted, others):
                if others is None:
                    return await _run_retrying(session, crawler, retrying)
                with others.heard(session, crawler):
                    return await others.ended(await _run_retrying(session, crawler, retrying))
    finally:
        await fetcher.close()


async def _run_retrying(session: Session, crawler: Crawler, retrying: RetryPolicy) -> RunSummary:
    """Run the loop; after a fault of the database, wait and make the visits that were under way again."""
    while True:
        before = crawler.visits
        try:
            return await crawler.run()
        except PassingFault as fault:
            if crawler.visits > before:
                retrying.reset()
            await retrying.until_writable(fault, session.store, session.frontier.release_all, lambda: crawler.stopping)


@contextmanager
def _stopped_by_signals(crawler: Crawler, say: Callable[[str], object], others: Others | None) -> Iterator[None]:
    """Stop the crawler on Ctrl-C, SIGTERM and, unless the process ignores it (`nohup`), when the terminal is closed."""
    loop, signals = asyncio.get_running_loop(), list(others.signals if others else STOPS)
    if signal.SIGHUP in signals and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signals.remove(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, _stop, crawler, number, say, others)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _stop(crawler: Crawler, number: signal.Signals, say: Callable[[str], object], others: Others | None) -> None:
    """Let running visits settle at the first signal, and cut them off at a second Ctrl-C."""
    is_second, under_way = crawler.stopping, crawler.under_way + (others.under_way if others else 0)
    at_once = is_second and number == signal.SIGINT
    crawler.stop("interrupt" if number == signal.SIGINT else "signal", at_once=at_once)
    if others is not None:
        others.stop(at_once=at_once)
    if not is_second:
        say(f"Stopping, {counted(under_way, 'request')} under way (Ctrl-C again: at once).")
