"""Workers on one database of a PostgreSQL server that crawl the demo's web, and what is known of them from outside."""

from __future__ import annotations

import csv
import io
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geocrawl.demo.web import DemoWeb
from geocrawl.store.database.database import open_readonly
from geocrawl.urls.database import place_of
from tests.support.daemons import wait_for
from tests.support.invariants import check_invariants
from tests.support.postgres import Server
from tests.support.processes import clean_environment

DELAY = "0.2"
_LATENCY_S = 0.02
_LIMIT_S = 300.0
_SETTLED = "SELECT address FROM url WHERE purpose = 'page' AND state = 'visited'"
_LAST = "SELECT coalesce(max(settled_at), 0) FROM url"


class Worker:
    """A crawl under way."""

    def __init__(self, command: list[str], environ: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file, env=environ)

    @property
    def log(self) -> str:
        """All that it said so far."""
        return self._log.read_text("utf-8")

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        self.process.kill()
        self.process.wait(_LIMIT_S)

    def ends(self) -> int:
        """Wait for its end; return its exit code."""
        return self.process.wait(_LIMIT_S)


class Field:
    """A database, the demo's web with its log, and workers in between."""

    def __init__(self, server: Server, web: DemoWeb, folder: Path) -> None:
        self.server, self.web, self.folder = server, web, folder
        self.url = server.new_catalogue()
        self.workers: list[Worker] = []

    def worker(self, url: str = "", *, delay: str = DELAY, strategy: str = "gws", **settings: str) -> Worker:
        """Start one more crawl, on another URL of the database if one is given."""
        command = [sys.executable, "-m", "geocrawl", "crawl", *self.web.seeds, "--db", url or self.url]
        options = ["--proxy", self.web.proxy_url, "--delay", delay, "--strategy", strategy, "--contact", "a@b.example"]
        environ = {f"GEOCRAWL_{name.upper()}": value for name, value in settings.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / f"worker-{len(self.workers)}.log"
        self.workers.append(Worker([*command, *options], {**clean_environment(self.folder), **environ}, log))
        return self.workers[-1]

    def settled(self, url: str = "") -> set[str]:
        """Return the pages that were visited; none while the server is away."""
        with open_readonly(place_of(url or self.url)) as connection:
            return {row[0] for row in connection.execute(_SETTLED)}

    def under_way(self, least: int = 12) -> set[str]:
        """Wait until so many pages are settled, and return them."""
        wait_for(lambda: len(self.settled()) >= least, "some visits", _LIMIT_S)
        return self.settled()

    def goes_on(self, url: str = "") -> float:
        """Return the seconds from now to the next settled visit; 0 when all workers have ended before."""
        since, began = time.time(), time.monotonic()

        def moved() -> bool:
            with open_readonly(place_of(url or self.url)) as connection:
                last = connection.execute(_LAST).fetchone()[0]
            return bool(last > since) or all(each.process.poll() is not None for each in self.workers)

        wait_for(moved, "a visit after the fault", _LIMIT_S)
        return round(time.monotonic() - began, 1)

    def most_at_once(self) -> int:
        """Return the most requests of one host that were under way at the same time."""
        return max(self.web.most_at_once.values(), default=0)

    def catalogue(self, url: str = "") -> set[tuple[str, ...]]:
        """Return the services of the catalogue, and check that its tables agree with each other."""
        with open_readonly(place_of(url or self.url)) as connection:
            check_invariants(connection)
        command = [sys.executable, "-m", "geocrawl", "export", "--format", "csv", "--db", url or self.url]
        text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LIMIT_S).stdout
        return {(row["url"], row["kind"], row["status"], row["title"]) for row in csv.DictReader(io.StringIO(text))}

    def end(self) -> None:
        """Kill what still runs, and remove the database."""
        for each in self.workers:
            if each.process.poll() is None:
                each.kill()
        self.server.drop(self.url)


@contextmanager
def field_of(server: Server, folder: Path) -> Iterator[Field]:
    """Yield a new database on the server, with a web of its own."""
    with DemoWeb(latency_s=_LATENCY_S) as web:
        field = Field(server, web, folder)
        try:
            yield field
        finally:
            field.end()


def undisturbed(server: Server, folder: Path) -> set[tuple[str, ...]]:
    """Return the catalogue of a crawl to which nothing happens."""
    with field_of(server, folder) as field:
        worker = field.worker(delay="0")
        if worker.ends():
            raise SystemExit(worker.log)
        return field.catalogue()
