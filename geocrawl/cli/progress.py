"""Show a run while it goes on: a live display on a terminal, else log lines.

Every line of the display is one line of the terminal, whatever its width. Notes are printed above it and stay.
"""

from __future__ import annotations

import io
import logging
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

import structlog
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from structlog.typing import FilteringBoundLogger

from geocrawl.app.findings import check_contact, queue_of
from geocrawl.app.processes import Processes
from geocrawl.cli.time_left import Progress, TimeLeft
from geocrawl.crawler.report import ListCounts, RunSummary
from geocrawl.errors import EnvironmentFault
from geocrawl.files import refuse_database
from geocrawl.model import Entry, FrontierStats, Lease, Purpose, SettlementResult, State, Visit
from geocrawl.ports import Observer, Observers
from geocrawl.sanitize import masked, plain
from geocrawl.settings import Settings
from geocrawl.wording import counted, span


@contextmanager
def observe(
    settings: Settings,
    *,
    json: bool,
    max_pages: int = 0,
    processes: Processes | None = None,
    lists: ListCounts | None = None,
) -> Iterator[Observer]:
    """Yield an observer of a run: a live display on a terminal, else log lines, plain or JSON, on standard error.

    `max_pages`: the limit that the display names, 0 for none. `processes`: further ones, whose counts are shown with
    this one's. `lists`: those of a harvest, whose records are shown. With a log file the lines are written there, with
    a display or without.
    """
    others = processes.counts if processes else RunSummary
    with log_file(settings) as file:
        if not _has_display(settings, json=json, to_file=file is not None):
            with _logged(log_of(settings, file), others, lists) as log:
                yield log
            return
        if processes:
            processes.is_silent = True
        with live_display(max_pages, settings, others, lists) as live:
            if file is None:
                yield live
                return
            with _logged(log_of(settings, file), others) as log:
                yield Observers((live, log))


@contextmanager
def logged_part(settings: Settings) -> Iterator[Observer]:
    """Yield an observer of a process that takes part in another one's crawl: it logs its visits, not its progress."""
    with log_file(settings) as file:
        yield LogObserver(log_of(settings, file), of_part=True)


def _has_display(settings: Settings, *, json: bool, to_file: bool) -> bool:
    """Return whether a person watches a terminal that can move its cursor, and asked for no lines on it."""
    lines = json or settings.quiet or (not to_file and (settings.log_json or settings.log_visits))
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown") and not lines


@contextmanager
def _logged(log: Log, others: Callable[[], RunSummary], lists: ListCounts | None = None) -> Iterator[LogObserver]:
    observer = LogObserver(log, others, lists=lists)
    with _repeated(observer.tick, 1.0):
        yield observer


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

    def __init__(
        self,
        log: Log,
        others: Callable[[], RunSummary] = RunSummary,
        *,
        of_part: bool = False,
        lists: ListCounts | None = None,
    ) -> None:
        """`others` returns what other processes of the crawl have done. `of_part`: another process tells of progress
        and of the crawl as a whole. `lists`: as in `observe`."""
        self._log = log
        self._lists = lists
        self._others = others
        self._of_part = of_part
        self._summary = RunSummary()
        self._began = time.monotonic()
        self._next = self._began + self.EVERY_S
        self._stats: Callable[[], FrontierStats] | None = None

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

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self._summary.count(visit, result)
        if self._lists and result.source and (line := self._lists.note(result.source)):
            self._log.info(line)
        self._log_visit(entry, visit, result)
        structlog.contextvars.unbind_contextvars("visit")
        if time.monotonic() >= self._next and not self._of_part:
            self._next = time.monotonic() + self.EVERY_S
            self._log_progress()

    def _log_visit(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
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

    def _log_progress(self) -> None:
        s, seconds = self._summary.plus(self._others()), max(time.monotonic() - self._began, 1e-9)
        counts = {"pages": s.pages, "pages_per_s": round(s.pages / seconds, 1), "failed": s.failures}
        waiting = sum(self._stats().waiting_by_tier.values()) if self._stats else 0
        counts |= {"waiting": waiting, "probes": s.probes, "valid": s.valid}
        if self._lists and self._lists.read:
            counts |= {"records": self._lists.read, "of": self._lists.stated}
        self._log.info("progress", **counts)


def _answer(visit: Visit) -> dict[str, object]:
    """Return why a page was not read, with the HTTP status if there was an answer."""
    fields: dict[str, object] = {"reason": visit.reason}
    if visit.http_status is not None:
        fields["status"] = visit.http_status
    if visit.reason == "guard":
        fields["advice"] = "a private address was skipped; the same command with --allow-private reads it"
    return fields


def _outcome(visit: Visit, result: SettlementResult) -> dict[str, object]:
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


Log: TypeAlias = FilteringBoundLogger
"""Writes log lines; one that is written while a visit is bound carries the id of the visit."""


@contextmanager
def log_file(settings: Settings) -> Iterator[LogFile | None]:
    """Open the file to which log lines are appended, and close it in the end; yield None for standard error.

    Raises UsageError for a database, EnvironmentFault when the file cannot be written.
    """
    if not settings.log_file:
        yield None
        return
    path = Path(settings.log_file).expanduser()
    refuse_database(path)
    try:
        raw = path.open("ab", buffering=0)
    except OSError as error:
        raise EnvironmentFault(f"--log-file {path}: {error.strerror or error}") from error
    with raw:
        yield LogFile(path, raw)


class LogFile(io.TextIOBase):
    """A file of log lines. A line that cannot be written is lost, which is said once: a full disk ends no crawl."""

    def __init__(self, path: Path, raw: io.FileIO) -> None:
        """Append to an open file; `path` names it in messages."""
        self._path, self._raw = path, raw
        self._is_failing = False

    def write(self, text: str, /) -> int:
        """Write a text at once."""
        try:
            self._raw.write(text.encode("utf-8", "backslashreplace"))
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                sys.stderr.write(f"geocrawl: {self._path}: {error.strerror or error}; log lines are lost\n")
            self._is_failing = True
        return len(text)


def log_to(
    to: TextIO | LogFile | None = None, *, json_lines: bool = False, quiet: bool = False, visits: bool = False
) -> Log:
    """Return a log that writes to a stream, by default standard error: key=value for people, JSON for programs.

    `quiet`: only warnings. `visits`: also the begin and the end of each visit.
    """
    least = logging.DEBUG if visits else logging.WARNING if quiet else logging.INFO
    form: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json_lines
        else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=20)
    )
    log: Log = structlog.wrap_logger(
        structlog.WriteLogger(cast(TextIO, to or sys.stderr)),  # one write a line: several processes may write
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _plain_values,
            form,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
    ).bind()
    return log


def log_of(settings: Settings, file: LogFile | None = None) -> Log:
    """Return the log that the settings want, in a file or on standard error."""
    return log_to(file, json_lines=settings.log_json, quiet=settings.quiet, visits=settings.log_visits)


def ask_for_contact(settings: Settings, log: Log) -> None:
    """Log a line when owners of sites cannot know whom to ask."""
    contact = check_contact(settings)
    if contact.severity:
        log.info("no contact is set", advice=contact.advice)


_MOST_CHARS = 300
_TRACEBACK_CHARS = 4_000


def _plain_values(_: Any, __: str, event: Any) -> Any:
    """Remove line breaks, terminal sequences and secrets from the values of a log line."""
    return {
        key: masked(plain(value, _TRACEBACK_CHARS if key == "traceback" else _MOST_CHARS))
        if isinstance(value, str)
        else value
        for key, value in event.items()
    }


def log_fault(log: Log, visit: Visit) -> None:
    """Log what broke a visit, with the end of its traceback."""
    if visit.fault:
        log.error("internal error", url=visit.lease.entry.url.address, traceback=visit.fault[-_TRACEBACK_CHARS:])


_SHOWN_CHARS = 500
"""Number of characters of a title or an address that are kept: more than a line of any terminal shows."""
_SLOW_S = 5.0
"""Services that are all that is waited for count as slow after so long without an answer."""
_SHARE_OF_TITLE = 0.4
"""Largest share of the terminal's width that a title may take."""


@contextmanager
def live_display(
    max_pages: int,
    settings: Settings,
    others: Callable[[], RunSummary] = RunSummary,
    lists: ListCounts | None = None,
) -> Iterator[LiveObserver]:
    """Show a run on standard error until its end; yield the observer that follows it.

    `others` returns what other processes of the crawl have done; any thread may ask."""
    console = Console(stderr=True, markup=False, highlight=False)
    observer = LiveObserver(
        console,
        max_pages=max_pages,
        max_time_s=settings.max_time_s,
        options=settings.set,
        others=others,
        lists=lists,
    )
    with Live(get_renderable=observer.render, console=console, refresh_per_second=4, transient=True):
        yield observer


class LiveObserver:
    """Follows a run and draws its state."""

    MOST_FOUND = 6
    MOST_READING = 5

    def __init__(
        self,
        console: Console,
        *,
        max_pages: int = 0,
        max_time_s: float = 0.0,
        options: Mapping[str, str] | None = None,
        others: Callable[[], RunSummary] = RunSummary,
        lists: ListCounts | None = None,
    ) -> None:
        """`max_pages`, `max_time_s`: the limits of the run, 0 for none. `options`: those of strategies that people set.
        `others`, `lists`: as in `observe`."""
        self._lists = lists
        self._others = others
        self._options = options or {}
        self._console = console
        self._max_pages, self._max_time_s = max_pages, max_time_s
        self._began = time.monotonic()
        self._paged_at = 0.0
        """When the last page was settled, monotonic: what is done afterwards makes no page slower."""
        self._summary = RunSummary()
        self._time_left = TimeLeft(max_pages)
        self._slowest_s = 0.0
        """Duration of the slowest visit."""
        self._reading: dict[int, tuple[float, Purpose, str]] = {}
        """When each visit began, monotonic, its purpose and its address."""
        self._settled_at = self._began
        """When the last visit was settled, monotonic."""
        self._found: list[tuple[str, str]] = []
        self._stats: Callable[[], FrontierStats] | None = None

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self._stats, self._began = stats, time.monotonic()
        for note in notes:
            self.noted(note)

    def noted(self, text: str) -> None:
        self._console.print(Text(masked(plain(text, 2_000))))  # above the display

    def leased(self, lease: Lease) -> None:
        self._reading.pop(lease.entry.id, None)  # a visit that was given back may be the last again
        entry = lease.entry
        self._reading[entry.id] = time.monotonic(), entry.purpose, _short(entry.url.address)

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self._settled_at = time.monotonic()
        began, *_ = self._reading.pop(entry.id, (self._settled_at,))
        self._slowest_s = max(self._slowest_s, self._settled_at - began)
        self._summary.count(visit, result)
        if self._lists and result.source and (line := self._lists.note(result.source)):
            self.noted(line)
        if entry.purpose is Purpose.PAGE:
            self._paged_at = self._settled_at
        if visit.fault:
            self.noted(f"internal error at {entry.url.address}: {plain(visit.fault, 2_000)[-300:]}")
        if visit.verdict is not None and visit.verdict.service is not None:
            title = plain(visit.verdict.service.title, _SHOWN_CHARS)
            self._found.append((title, _short(entry.url.address)))
            del self._found[: -self.MOST_FOUND]

    def render(self) -> Group:
        """Return the current display (Rich calls this four times a second)."""
        width, height = self._console.size
        if self._stats is None:
            return self._drawn_lines([Text("starting …", style="dim")], width)
        summary = self._summary.plus(self._others())
        lines = [self._counts(summary), Text(self._time(summary)), *self._queue(height)]
        room = max(height - 1 - len(lines), 1)
        reading = [Text(f"  reading {address}", style="dim") for *_, address in [*self._reading.values()]]
        reading = reading[-min(self.MOST_READING, max(room // 2, 1)) :]
        found = [self._line_of(*each, width) for each in list(self._found)]
        lines += [*(found[len(reading) - room :] if room > len(reading) else ()), *reading]
        return self._drawn_lines(lines, width)

    def _drawn_lines(self, lines: list[Text], width: int) -> Group:
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Group(*lines)

    def _counts(self, s: RunSummary) -> Text:
        rate = s.pages / max((self._paged_at or time.monotonic()) - self._began, 1e-9)
        head = Text(counted(s.pages, "page"), style="bold")
        head.append(f" ({rate:.1f}/s), {s.failures:,} failed; {s.probes:,} probed, ", style="not bold")
        return head.append(f"{s.valid:,} valid", style="bold green")

    def _time(self, s: RunSummary) -> str:
        """Return the time since the beginning, with what is known of the end."""
        seconds = time.monotonic() - self._began
        parts = [span(seconds)]
        if self._lists and self._lists.read:
            parts.insert(0, f"{self._lists.read:,} of {self._lists.stated:,} records")
        if self._max_time_s:
            parts[-1] += f" of {span(self._max_time_s)}"
        if self._max_pages:
            parts.append(f"{min(s.pages / self._max_pages, 1.0):.0%} of {self._max_pages:,} pages")
        stats = self._stats() if self._stats else None
        if stats and stats.hosts and s.visits:  # they are read a moment after the beginning
            parts += self._end(s, stats, seconds)
        return ", ".join(parts)

    def _end(self, s: RunSummary, stats: FrontierStats, seconds: float) -> Iterator[str]:
        """Yield what is left when no page is to be read, and the estimated time."""
        waiting, reading = sum(stats.waiting_by_tier.values()), [purpose for _, purpose, _ in [*self._reading.values()]]
        if not waiting or (self._max_pages and s.pages >= self._max_pages):
            if stats.probes_waiting:
                yield f"{counted(stats.probes_waiting, 'probe')} left"
            is_slow = Purpose.PAGE not in reading and time.monotonic() - self._settled_at > _SLOW_S
            yield f"waiting for {counted(len(reading), 'slow service' if is_slow else 'answer')}"
        now = Progress(seconds, s.pages, s.visits, waiting, stats.probes_waiting, len(reading), self._slowest_s)
        self._time_left.note(now)
        left, most = self._time_left.seconds(), self._max_time_s - seconds if self._max_time_s else math.inf
        if left is not None and left < most:
            yield f"about {_rounded(left)} left"
        elif self._max_time_s:
            yield f"at most {_rounded(most)} left"

    def _queue(self, height: int) -> Iterator[Text]:
        if self._stats is None:
            return
        stats = self._stats()
        lines = islice(queue_of(stats, self._options).lines(), max((height - 8) // 2, 0))
        yield from (Text(line, style="cyan") for line in lines)

    @staticmethod
    def _line_of(title: str, address: str, width: int) -> Text:
        """Return the line of a service: the title takes a part of the width at most, the address the rest."""
        line = Text(f"  + {title}", style="green")
        line.truncate(int(width * _SHARE_OF_TITLE), overflow="ellipsis")
        return line.append(f"  {address}")


def _rounded(seconds: float) -> str:
    """Return a time, in tens of seconds after a minute, in minutes after ten."""
    seconds = max(seconds, 1.0)
    return span(seconds - seconds % (10 if seconds < 600 else 60) if seconds > 60 else seconds)


def _short(address: str) -> str:
    """Return an address without secrets and without its scheme.

    It is masked before it is truncated, or a port looks like a password.
    """
    return masked(plain(address, _SHOWN_CHARS)).partition("://")[2]
