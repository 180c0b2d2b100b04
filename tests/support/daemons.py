"""Run a daemon as a process on the demo's web, to measure which faults it survives."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from geocrawl.demo.web import DemoWeb
from tests.support import forked
from tests.support.processes import clean_environment

LIMIT_S = 300.0


class Daemon:
    """A daemon under way."""

    def __init__(self, process: forked.Started, log: Path) -> None:
        self.process = process
        self._log = log

    def log(self) -> str:
        """All that it said so far."""
        return self._log.read_text("utf-8") if self._log.exists() else ""

    def says(self, text: str) -> bool:
        """Whether it said so."""
        return text in self.log()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit code after a signal."""
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)


class Place:
    """A folder with one database, and what is known of it from outside."""

    def __init__(self, folder: Path, *, db: Path | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.db = db or folder / "c.db"

    @contextmanager
    def daemon(self, *options: str, **environ: str) -> Iterator[Daemon]:
        """One on this database, killed at the end if it still runs."""
        log = self.folder / f"daemon-{time.monotonic_ns()}.log"
        command, env = ("daemon", "--db", str(self.db), *options), clean_environment(self.folder, **environ)
        process = forked.start(command, env=env, out=log, err=log)
        try:
            yield Daemon(process, log)
        finally:
            process.kill()
            process.wait()

    def command(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> str:
        """What a command says of this database."""
        done = forked.geocrawl((*arguments, "--db", str(self.db)), env=clean_environment(self.folder))
        if done.returncode not in accept:
            raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout + done.stderr

    def start_pages(self, web: DemoWeb) -> None:
        """Give the demo's start pages."""
        self.command("seeds", "add", *web.seeds)

    def status(self) -> dict[str, Any]:
        """`geocrawl status --json`."""
        found: dict[str, Any] = json.loads(self.command("status", "--json"))
        return found

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Read-only; nothing while there is no such table."""
        if not self.db.is_file():
            return []
        with closing(sqlite3.connect(f"{self.db.as_uri()}?mode=ro", uri=True, timeout=60)) as connection:
            try:
                return connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError:
                return []

    def number(self, statement: str, *values: object) -> float:
        """The one figure of a statement; 0 without a row."""
        rows = self.rows(statement, *values)
        return rows[0][0] or 0 if rows else 0

    def settled(self) -> set[str]:
        """Addresses that were visited, and endpoints with a verdict."""
        pages = self.rows("SELECT purpose || ' ' || address FROM url WHERE state = 'visited'")
        verdicts = self.rows("SELECT 'verdict ' || kind || ' ' || key FROM endpoint WHERE status IS NOT NULL")
        return {row[0] for row in (*pages, *verdicts)}

    def valid(self) -> set[str]:
        """Keys of valid endpoints."""
        return {row[0] for row in self.rows("SELECT key FROM endpoint WHERE status = 'valid'")}

    def intact(self) -> bool:
        """Whether SQLite finds nothing wrong."""
        return self.rows("PRAGMA integrity_check") == [("ok",)]

    def last_settled(self) -> float:
        """When the last visit was settled, seconds since the epoch."""
        return self.number("SELECT max(settled_at) FROM url")


def wait_for(condition: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> float:
    """Return the seconds until the condition was true; SystemExit when it never is."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > limit_s:
            raise SystemExit(f"{what}: not within {limit_s:.0f} s")
        time.sleep(0.05)
    return round(time.monotonic() - begun, 2)
