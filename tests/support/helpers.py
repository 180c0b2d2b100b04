"""Crawls by several processes (`crawl --processes`): start them, find the further processes, wait for what they do."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support import forked

LIMIT_S = 300.0
PRINTED = ("out.txt", "err.txt")
"""Names of the files that a crawl prints to, in its home."""


class TeamCrawl:
    """A crawl under way."""

    def __init__(self, process: forked.Started, environment: Mapping[str, str]) -> None:
        self.process = process
        self._folder = Path(environment["HOME"])
        self._environment = environment
        self.seen: set[int] = set()
        """Helpers that were found so far."""

    def helpers(self, count: int) -> list[int]:
        """Wait until there are so many helpers; return their process ids."""
        self.until(lambda: len(self._found()) >= count)
        return self._found()

    def _found(self) -> list[int]:
        found = helpers_of(self.process.pid)
        self.seen.update(found)
        return found

    def until(self, found: Callable[[], Any]) -> Any:
        """Wait until `found()` is true while the crawl runs; return what it returned."""
        ends = time.monotonic() + LIMIT_S
        while not (value := found()):
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self._printed()}"
            assert time.monotonic() < ends, "it did not happen"
            time.sleep(0.02)
        return value

    def workers(self) -> list[dict[str, Any]]:
        """Return what `geocrawl workers` shows."""
        command = ("workers", "--db", "c.db", "--json")
        shown = forked.geocrawl(command, env=self._environment, cwd=self._folder)
        return list(json.loads(shown.stdout)) if shown.returncode == 0 else []

    def end(self) -> tuple[int, dict[str, Any], str]:
        """Wait for the end, and until no helper is left; return exit code, report and notes."""
        code = self.process.wait(LIMIT_S)
        self.demand_no_helpers()
        out, err = self._printed()
        return code, json.loads(out) if out.strip() else {}, err

    def _printed(self) -> list[str]:
        return [(self._folder / name).read_text("utf-8") for name in PRINTED]

    def demand_no_helpers(self) -> None:
        """Wait until every helper that was seen has ended."""
        ends = time.monotonic() + LIMIT_S
        while left := [pid for pid in self.seen if _command(pid)]:
            assert time.monotonic() < ends, f"still running: {left}"
            time.sleep(0.02)


@contextmanager
def team_crawl(home: Path, *arguments: str) -> Iterator[TeamCrawl]:
    """Run `geocrawl crawl ARGUMENTS` on c.db in `home`; nothing of it is left in the end."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().startswith(("geocrawl", "http"))}
    environment = kept | {"HOME": str(home), "COLUMNS": "200", "GEOCRAWL_SIBLINGS": "0"}
    out, err = (home / name for name in PRINTED)
    for path in (out, err):
        path.unlink(missing_ok=True)
    command = ("crawl", *arguments, "--db", "c.db", "--json")
    process = forked.start(command, env=environment, cwd=home, out=out, err=err)
    crawl = TeamCrawl(process, environment)
    try:
        yield crawl
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def helpers_of(first: int) -> list[int]:
    """Return the further processes of a crawl, which its first one started."""
    return [pid for pid in _children(first) if b"take_part" in _command(pid)]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _command(pid: int) -> bytes:
    """Return a process's command line; nothing for one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
