"""Show a run while it goes on: a live display on a terminal, else log lines."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog

from geocrawl.cli.logs import Log, log_fault, log_file, log_of
from geocrawl.crawler.summary import RunSummary
from geocrawl.model import Entry, FrontierStats, Lease, Purpose, Settled, State, Visit

if TYPE_CHECKING:
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings


@contextmanager
def observe(settings: Settings, *, json: bool, max_pages: int = 0) -> Iterator[Observer]:
    """Yield an observer of a run: a live display on a terminal, else log lines, plain or JSON, on standard error.

    `max_pages`: the limit that the display names, 0 for none. With a log file the lines are written there, beside a
    display or not.
    """
    with log_file(settings) as file:
        if not _has_display(settings, json=json, to_file=file is not None):
            with _logged(log_of(settings, file)) as log:
                yield log
            return
        from geocrawl.cli.live import live_display

        with live_display(max_pages, settings.max_time_s) as live:
            if file is None:
                yield live
                return
            with _logged(log_of(settings, file)) as log:
                yield Observers((live, log))


def _has_display(settings: Settings, *, json: bool, to_file: bool) -> bool:
    """Return whether a person watches a terminal that can move its cursor, and asked for no lines on it."""
    lines = json or settings.quiet or (not to_file and (settings.log_json or settings.log_visits))
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown") and not lines


@contextmanager
def _logged(log: Log) -> Iterator[LogObserver]:
    observer = LogObserver(log)
    with _repeated(observer.tick, 1.0):
        yield observer


class Observers:
    """Several observers as one."""

    def __init__(self, each: Sequence[Observer]) -> None:
        self._each = each

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        for one in self._each:
            one.started(stats, notes)

    def noted(self, text: str) -> None:
        for one in self._each:
            one.noted(text)

    def leased(self, lease: Lease) -> None:
        for one in self._each:
            one.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        for one in self._each:
            one.settled(entry, visit, result)


@contextmanager
def _repeated(call: Callable[[], object], every_s: float) -> Iterator[None]:
    """Call a function at regular intervals, in a separate thread."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(every_s):
            call()

    thread = threading.Thread(target=run, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class LogObserver:
    """Logs each service found, each start page that failed, progress every ten seconds and, on request, each visit.

    From its lease to its settlement every line of a worker carries the id of the visit, which is bound to the worker's
    own context.
    """

    EVERY_S = 10.0

    def __init__(self, log: Log) -> None:
        self._log = log
        self._summary = RunSummary()
        self._began = time.monotonic()
        self._next = self._began + self.EVERY_S
        self._stats: Callable[[], FrontierStats] | None = None
        self._waiting = 0

    def tick(self) -> None:
        """Log progress when no visit was settled for so long that none was logged; called from another thread."""
        if time.monotonic() >= self._next + 1.0:
            self._next = time.monotonic() + self.EVERY_S
            self._log_progress()

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self._stats, self._began = stats, time.monotonic()
        for note in notes:
            self._log.info(note)

    def noted(self, text: str) -> None:
        self._log.warning(text)

    def leased(self, lease: Lease) -> None:
        structlog.contextvars.bind_contextvars(visit=lease.visit_id)
        entry = lease.entry
        self._log.debug("leased", purpose=str(entry.purpose), url=entry.url.address, depth=entry.depth)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        self._summary.count(visit, result)
        self._log_visit(entry, visit, result)
        structlog.contextvars.unbind_contextvars("visit")
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self.EVERY_S
            self._progress()

    def _log_visit(self, entry: Entry, visit: Visit, result: Settled) -> None:
        log_fault(self._log, visit)
        event = "failed" if visit.state is State.FAILED else "settled"
        self._log.debug(event, url=entry.url.address, state=str(visit.state), **_outcome(visit, result))
        if visit.verdict is not None and visit.verdict.service is not None:
            service = visit.verdict.service
            layers = sum(1 for layer in service.layers if layer.name)
            self._log.info(
                "service found", kind=str(service.kind), url=entry.url.address, title=service.title, layers=layers
            )
        elif entry.depth == 0 and entry.purpose is Purpose.PAGE and visit.state is not State.VISITED:
            self._log.warning("seed not read", url=entry.url.address, **_answer(visit))

    def _progress(self) -> None:
        self._waiting = sum(self._stats().waiting_by_tier.values()) if self._stats else 0
        self._log_progress()

    def _log_progress(self) -> None:
        s, seconds = self._summary, max(time.monotonic() - self._began, 1e-9)
        counts = {"pages": s.pages, "pages_per_s": round(s.pages / seconds, 1), "failed": s.failures}
        counts |= {"waiting": self._waiting, "probes": s.probes, "valid": s.valid}
        self._log.info("progress", **counts)


def _answer(visit: Visit) -> dict[str, object]:
    """Return why a page was not read, with the HTTP status if there was an answer."""
    status = {} if visit.http_status is None else {"status": visit.http_status}
    return {"reason": visit.reason, **status}


def _outcome(visit: Visit, result: Settled) -> dict[str, object]:
    """Return the end of a visit as fields of its log line."""
    verdict = visit.verdict
    return {
        "reason": verdict.reason if verdict else visit.reason,
        "status": verdict.http_status if verdict else visit.http_status,
        "milliseconds": round(verdict.elapsed_ms if verdict else visit.elapsed_ms),
        "bytes": visit.size_bytes,
        "new_links": result.new_links,
        "new_endpoints": result.new_candidates,
    }
