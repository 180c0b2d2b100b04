"""Watch what a crawl's process and its browser's processes use, by /proc, every 50 ms in a thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from geocrawl.browser.chromium import descendants, memory_bytes

_LOOK_S = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_OF_BROWSER = (b"chrom", b"playwright")
"""Parts of the command lines of Chromium's processes and of Playwright's driver."""


@dataclass
class Watch:
    """What the processes that this one started have used so far; each may have used 50 ms more before its end."""

    browser_peak_mib: float = 0.0
    """Largest sum of the browser's processes and its driver at one time, without files that are mapped."""
    others_peak_mib: float = 0.0
    """The same of all other processes."""
    _cpu_s: dict[int, float] = field(default_factory=dict)
    """By process."""
    _browser: set[int] = field(default_factory=set)

    @property
    def browser_cpu_s(self) -> float:
        """Return the CPU time of the browser's processes and of what drives it."""
        return round(sum(used for pid, used in self._cpu_s.items() if pid in self._browser), 2)

    @property
    def others_cpu_s(self) -> float:
        """Return the CPU time of all other processes."""
        return round(sum(used for pid, used in self._cpu_s.items() if pid not in self._browser), 2)

    def look(self) -> None:
        """Read what all processes have used."""
        pids = descendants(os.getpid())
        for pid in pids:
            with suppress(OSError):
                self._cpu_s[pid] = _cpu_s(pid)
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
                if any(part in line for part in _OF_BROWSER):
                    self._browser.add(pid)
        of_browser = memory_bytes([pid for pid in pids if pid in self._browser])
        of_others = memory_bytes([pid for pid in pids if pid not in self._browser])
        self.browser_peak_mib = round(max(self.browser_peak_mib, of_browser / 2**20), 1)
        self.others_peak_mib = round(max(self.others_peak_mib, of_others / 2**20), 1)


def _cpu_s(pid: int) -> float:
    """Return the user and system time of a process; that of its children is theirs."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def watching() -> Iterator[Watch]:
    """Watch all processes that this one starts until the end of the block."""
    watch, is_over = Watch(), threading.Event()

    def look() -> None:
        while not is_over.wait(_LOOK_S):
            watch.look()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        is_over.set()
        thread.join()
