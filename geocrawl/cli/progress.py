"""Show a run while it goes on: a live display on a terminal, else log lines."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog

from geocrawl.model import Entry, FrontierStats, Lease, Purpose, Settled, State, Status, Visit
from geocrawl.sanitize import masked, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from geocrawl.ports import Observer
    from geocrawl.settings import Settings


@contextmanager
def observe(settings: Settings, *, json: bool) -> Iterator[Observer]:
    """Yield an observer that writes to standard error: a live display on a terminal, else log lines, plain or JSON."""
    configure_logging(json_lines=settings.log_json, quiet=settings.quiet, visits=settings.log_visits)
    lines = settings.quiet or settings.log_json or settings.log_visits or json
    if sys.stderr.isatty() and not lines:
        from rich.console import Console
        from rich.live import Live

        observer = LiveObserver()
        with Live(get_renderable=observer.render, console=Console(stderr=True), refresh_per_second=4, transient=True):
            yield observer
    else:
        log = LogObserver()
        with _repeated(log.tick, 1.0):
            yield log


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


def configure_logging(*, json_lines: bool, quiet: bool, visits: bool = False) -> None:
    """Write log lines to standard error: key=value for people, JSON for programs.

    `quiet`: only warnings. `visits`: also the begin and the end of each visit.
    """
    least = logging.DEBUG if visits else logging.WARNING if quiet else logging.INFO
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json_lines
        else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=20)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _plain_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def ask_for_contact(settings: Settings) -> None:
    """Log a line when neither a contact nor a User-Agent is set: owners of sites should know whom to ask."""
    if not settings.contact and not settings.user_agent:
        advice = "owners of sites cannot reach you: set `contact` (--contact, GEOCRAWL_CONTACT)"
        structlog.get_logger().info("no contact is set", advice=advice)


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


def log_fault(log: Any, visit: Visit) -> None:
    """Log what broke a visit, with the end of its traceback."""
    if visit.fault:
        log.error("internal error", url=visit.lease.entry.url.address, traceback=visit.fault[-_TRACEBACK_CHARS:])


@dataclass(slots=True)
class Counters:
    """Counters of one run."""

    pages: int = 0
    probes: int = 0
    valid: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, visit: Visit) -> None:
        """Count a settled visit."""
        if visit.lease.entry.purpose is Purpose.PROBE:
            self.probes += visit.found is not None
            self.valid += visit.found is Status.VALID
        elif visit.is_page_answered:
            self.pages += 1
        else:
            self.failed += visit.http_status is None

    def pages_per_s(self) -> float:
        """Return pages per second since the start."""
        return self.pages / max(time.monotonic() - self.started, 1e-9)


class LogObserver:
    """Logs each service found, each start page that failed, progress every ten seconds and, on request, each visit.

    From its lease to its settlement every line of a worker carries the id of the visit, which is bound to the worker's
    own context.
    """

    EVERY_S = 10.0

    def __init__(self) -> None:
        self._log = structlog.get_logger()
        self._counters = Counters()
        self._next = self._counters.started + self.EVERY_S
        self._stats: Callable[[], FrontierStats] | None = None
        self._waiting = 0

    def tick(self) -> None:
        """Log progress when no visit was settled for so long that none was logged; called from another thread."""
        if time.monotonic() >= self._next + 1.0:
            self._next = time.monotonic() + self.EVERY_S
            self._log_progress()

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self._stats = stats
        for note in notes:
            self._log.info(note)

    def noted(self, text: str) -> None:
        self._log.warning(text)

    def leased(self, lease: Lease) -> None:
        structlog.contextvars.bind_contextvars(visit=lease.visit_id)
        entry = lease.entry
        self._log.debug("leased", purpose=str(entry.purpose), url=entry.url.address, depth=entry.depth)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        self._counters.add(visit)
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
        c, rate = self._counters, round(self._counters.pages_per_s(), 1)
        counts = {"pages": c.pages, "pages_per_s": rate, "waiting": self._waiting, "probes": c.probes, "valid": c.valid}
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


class LiveObserver:
    """A live display: counters, the queue by tier, services found, the pages being read."""

    STATS_EVERY_S = 1.0
    LAST_FOUND = 6
    LAST_NOTES = 8

    def __init__(self) -> None:
        self._counters = Counters()
        self._reading: dict[int, str] = {}
        self._found: list[str] = []
        self._notes: tuple[str, ...] = ()
        self._source: Callable[[], FrontierStats] | None = None
        self._stats: FrontierStats | None = None
        self._stats_at = 0.0

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self._source = stats
        self._notes = tuple(notes)

    def noted(self, text: str) -> None:
        self._notes = (*self._notes, text)[-self.LAST_NOTES :]

    def leased(self, lease: Lease) -> None:
        self._reading.pop(lease.entry.id, None)  # removed first: an entry that was given back moves to the end again
        self._reading[lease.entry.id] = masked(plain(lease.entry.url.address, 100))

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        self._reading.pop(entry.id, None)
        self._counters.add(visit)
        if visit.fault:
            self.noted(f"internal error at {entry.url.address}: {plain(visit.fault, 2_000)[-300:]}")
        if visit.verdict is not None and visit.verdict.service is not None:
            self._found.append(f"{plain(visit.verdict.service.title, 50)}  {masked(plain(entry.url.address, 70))}")
            del self._found[: -self.LAST_FOUND]
        if self._source is not None and time.monotonic() - self._stats_at > self.STATS_EVERY_S:
            # Asked here, in the crawl's own thread: the display's thread never touches the database.
            self._stats, self._stats_at = self._source(), time.monotonic()

    def render(self) -> RenderableType:
        """Return the current display (Rich calls this four times a second)."""
        from rich.console import Group
        from rich.text import Text

        c = self._counters
        lines = [Text(note, style="dim") for note in self._notes]
        head = Text()
        head.append(f"{c.pages:,} pages", style="bold")
        head.append(f"  {c.pages_per_s():.1f}/s   {c.probes:,} probed   ")
        head.append(f"{c.valid:,} services", style="bold green")
        head.append(f"   {c.failed:,} failed")
        lines.append(head)
        if self._stats is not None:
            tiers = sorted(self._stats.waiting_by_tier.items(), reverse=True)[:10]
            queue = "  ".join(f"[{tier}] {count:,}" for tier, count in tiers) or "empty"
            lines.append(Text(f"queue by tier: {queue}", style="cyan"))
        lines += [Text(f"  + {line}", style="green") for line in list(self._found)]
        lines += [Text(f"  reading {line}", style="dim") for line in list(self._reading.values())[-5:]]
        return Group(*lines)
