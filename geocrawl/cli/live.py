"""Show a run on a terminal while it goes on: counters, time and limits, the queue, services found, pages being read.

Every line of the display is one line of the terminal, whatever its width. Notes are printed above it and stay.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, ConsoleRenderable, Group
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType
from rich.text import Text

from geocrawl.crawler.summary import RunSummary
from geocrawl.model import Entry, FrontierStats, Lease, Settled, Visit
from geocrawl.sanitize import masked, plain
from geocrawl.wording import span

_MOST_CHARS = 500
"""Number of characters of a title or an address that are kept: more than a line of any terminal shows."""
_SHARE_OF_TITLE = 0.4
"""Largest share of the terminal's width that a title may take."""


@contextmanager
def live_display(
    max_pages: int, max_time_s: float, others: Callable[[], RunSummary] = RunSummary
) -> Iterator[LiveObserver]:
    """Show a run on standard error until its end; yield the observer that follows it.

    `others` returns what other processes of the crawl have done; any thread may ask."""
    console = Console(stderr=True, markup=False, highlight=False)
    observer = LiveObserver(console, max_pages=max_pages, max_time_s=max_time_s, others=others)
    with SteadyLive(observer, console):
        yield observer


class SteadyLive(Live):
    """A live display that leaves nothing behind when the terminal becomes narrower.

    Terminals then fold the lines that are on them, and Rich would go back over as many lines as it had written.
    """

    def __init__(self, observer: LiveObserver, console: Console) -> None:
        """Show what `observer` draws, four times a second, and remove it at the end."""
        self._observer = observer
        self._on_screen: list[int] = []
        super().__init__(get_renderable=observer.render, console=console, refresh_per_second=4, transient=True)

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Add the lines to be printed above, and erase the rows that folding has added below."""
        added = _folded_rows(self._on_screen, self.console.width)
        self._on_screen = self._observer.drawn  # Rich has asked for the frame that it writes next
        up = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)) * added
        return [Control(*up), *super().process_renderables([*renderables, *self._observer.take_notes()])]


class LiveObserver:
    """Follows a run and draws its state."""

    STATS_EVERY_S = 1.0
    MOST_FOUND = 6
    MOST_READING = 5

    def __init__(
        self,
        console: Console,
        *,
        max_pages: int = 0,
        max_time_s: float = 0.0,
        others: Callable[[], RunSummary] = RunSummary,
    ) -> None:
        """`max_pages`, `max_time_s`: the limits of the run, 0 for none. `others`: as in `live_display`."""
        self._others = others
        self._console = console
        self._max_pages, self._max_time_s = max_pages, max_time_s
        self._began = time.monotonic()
        self._summary = RunSummary()
        self._reading: dict[int, str] = {}
        self._found: list[tuple[str, str]] = []
        self._source: Callable[[], FrontierStats] | None = None
        self._stats: FrontierStats | None = None
        self._stats_at = 0.0
        self._notes = deque[str]()
        self.drawn: list[int] = []
        """Widths of the lines of the last frame."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self._source, self._began = stats, time.monotonic()
        for note in notes:
            self.noted(note)

    def noted(self, text: str) -> None:
        # Printed by the display's own thread: lines of two threads would be mixed.
        self._notes.append(masked(plain(text, 2_000)))

    def take_notes(self) -> list[Text]:
        """Return the notes that are not printed yet, each once."""
        return [Text(self._notes.popleft()) for _ in range(len(self._notes))]

    def leased(self, lease: Lease) -> None:
        self._reading.pop(lease.entry.id, None)  # a visit that was given back may be the last again
        self._reading[lease.entry.id] = _short(lease.entry.url.address)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        self._reading.pop(entry.id, None)
        self._summary.count(visit, result)
        if visit.fault:
            self.noted(f"internal error at {entry.url.address}: {plain(visit.fault, 2_000)[-300:]}")
        if visit.verdict is not None and visit.verdict.service is not None:
            title = plain(visit.verdict.service.title, _MOST_CHARS)
            self._found.append((title, _short(entry.url.address)))
            del self._found[: -self.MOST_FOUND]
        if self._source is not None and time.monotonic() - self._stats_at > self.STATS_EVERY_S:
            # Asked here, in the crawl's own thread: the display's thread never touches the database.
            self._stats, self._stats_at = self._source(), time.monotonic()

    def render(self) -> Group:
        """Return the current display (Rich calls this four times a second)."""
        width, height = self._console.size
        if self._source is None:
            return self._drawn_lines([Text("starting …", style="dim")], width)
        summary = self._summary.plus(self._others())
        lines = [self._counts(summary), Text(self._time(summary.pages)), *self._queue()]
        room = max(height - 1 - len(lines), 1)
        reading = [Text(f"  reading {address}", style="dim") for address in [*self._reading.values()]]
        reading = reading[-min(self.MOST_READING, max(room // 2, 1)) :]
        found = [self._line_of(*each, width) for each in list(self._found)]
        lines += [*(found[len(reading) - room :] if room > len(reading) else ()), *reading]
        return self._drawn_lines(lines, width)

    def _drawn_lines(self, lines: list[Text], width: int) -> Group:
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        self.drawn = [line.cell_len for line in lines]
        return Group(*lines)

    def _counts(self, s: RunSummary) -> Text:
        rate = s.pages / max(time.monotonic() - self._began, 1e-9)
        head = Text(f"{s.pages:,} pages", style="bold")
        head.append(f" ({rate:.1f}/s), {s.failures:,} failed; {s.probes:,} probed, ", style="not bold")
        return head.append(f"{s.valid:,} valid", style="bold green")

    def _time(self, pages: int) -> str:
        """Return the time since the beginning, with what is known of the end."""
        seconds = time.monotonic() - self._began
        parts = [span(seconds)]
        left = []
        if self._max_time_s:
            parts[0] += f" of {span(self._max_time_s)}"
            left.append(self._max_time_s - seconds)
        if self._max_pages:
            parts.append(f"{min(pages / self._max_pages, 1.0):.0%} of {self._max_pages:,} pages")
            if pages:
                left.append((self._max_pages - pages) * seconds / pages)
        if self._max_pages and pages >= self._max_pages:
            parts.append("finishing the probes")
        elif left:  # the queue may be empty earlier
            parts.append(f"at most {span(max(min(left), 1))} left")
        return ", ".join(parts)

    def _queue(self) -> Iterator[Text]:
        if self._stats is None:
            return
        tiers = sorted(self._stats.waiting_by_tier.items(), reverse=True)[:10]
        queue = "  ".join(f"[{tier}] {count:,}" for tier, count in tiers) or "empty"
        yield Text(f"queue by tier: {queue}", style="cyan")

    @staticmethod
    def _line_of(title: str, address: str, width: int) -> Text:
        """Return the line of a service: the title takes a part of the width at most, the address the rest."""
        line = Text(f"  + {title}", style="green")
        line.truncate(int(width * _SHARE_OF_TITLE), overflow="ellipsis")
        return line.append(f"  {address}")


def _folded_rows(widths: Sequence[int], columns: int) -> int:
    """Return how many rows more lines of these widths take on a terminal with so many columns."""
    return sum(max(0, -(-cells // columns) - 1) for cells in widths) if columns > 0 else 0


def _short(address: str) -> str:
    """Return an address without secrets and without its scheme.

    The stream masks what may be the beginning of a password, and would take the port of an address that is cut for one.
    """
    return masked(plain(address, _MOST_CHARS)).partition("://")[2]
