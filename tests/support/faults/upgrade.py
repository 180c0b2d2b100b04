"""Upgrades with data: a catalogue of each former schema is opened by this program.

Each is made by the program of its time, the last one before the next schema, taken from the repository's history: it
crawls the demo's web. `into_first_schema` makes one without the history.
"""

from __future__ import annotations

import sqlite3
import subprocess
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from geocrawl.app import wiring
from geocrawl.demo.web import DemoWeb
from geocrawl.store.engine.migrations import REVISIONS
from geocrawl.store.engine.sqlite.opening import upgrade
from tests.support.daemons import Place, wait_for
from tests.support.faults.row import Row
from tests.support.places import ROOT
from tests.support.processes import clean_environment, geocrawl

_COUNTED = ("service", "layer", "endpoint", "probe", "evidence", "url", "outlinks", "host", "robots", "run")
_STEPS_BACK = (1, *range(2, 33, 2))
_LEFT_OUT = ("alembic_version", "sqlite_sequence")


def upgraded(folder: Path) -> Row:
    """From each former schema to the last one; SystemExit when a row is lost or a living service is not due."""
    folder.mkdir(parents=True, exist_ok=True)
    with DemoWeb() as web:
        steps: dict[str, Any] = {}
        lost = 0
        for revision, following in pairwise(REVISIONS):
            path = folder / f"from-{revision}.db"
            _crawl_as_then(folder / revision, path, following, web)
            counts, began = _counts(path), time.monotonic()
            with wiring.open_store(path, wiring.system_clock(), create=False):
                steps[revision] = {"rows": sum(counts.values()), "seconds": round(time.monotonic() - began, 2)}
            lost += sum(abs(counts[table] - count) for table, count in _counts(path).items())
            if revision < "0005":  # the schema that brought health
                due, valid = living(path)
                steps[revision] |= {"living": valid, "of these due": due}
                if due != valid or valid == 0:
                    raise SystemExit(f"from {revision}: {due} of {valid} living endpoints are due")
        recovered = _lives_on(Place(folder / "on", db=folder / "from-0001.db"), web)
    return Row(
        "an upgrade with data",
        f"crawls by the programs of the schemas {REVISIONS[0]} to {REVISIONS[-2]}, opened by this one",
        lost,
        recovered,
        {"from": steps},
    )


def _crawl_as_then(folder: Path, db: Path, following: str, web: DemoWeb) -> None:
    """Crawl with the last program that did not know the schema `following`."""
    added = _git("log", "--diff-filter=A", "--format=%H", "--", f"*/migrations/versions/{following}_*.py")
    last = added.decode().split()[-1]
    for back in _STEPS_BACK:  # one in the middle of a change may not run
        program = folder / str(back)
        program.mkdir(parents=True)
        db.unlink(missing_ok=True)
        subprocess.run(
            ["tar", "x", "-C", str(program)], input=_git("archive", f"{last}~{back}", "geocrawl"), check=True
        )
        command = geocrawl("crawl", *web.seeds, "--db", str(db), "--proxy", web.proxy_url, "--delay", "0", "--quiet")
        done = subprocess.run(command, cwd=program, env=clean_environment(program), check=False, capture_output=True)
        if done.returncode == 0 and _schema(db) < following:
            return
    raise SystemExit(f"no program before the schema {following} crawls the demo's web")


def _schema(db: Path) -> str:
    with closing(sqlite3.connect(db)) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True).stdout


def crawled(place: Place, web: DemoWeb) -> None:
    """A catalogue, made by a crawl."""
    place.command("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet")


def into_first_schema(source: Path, target: Path) -> None:
    """A database of the first schema with all rows of `source` that it has tables and columns for."""
    upgrade(target, REVISIONS[0])
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS source", (str(source),))
        connection.execute("BEGIN")
        shadows = "AND name NOT LIKE 'service_text%'"  # the search index of that schema, and SQLite's own behind it
        names = connection.execute(f"SELECT name FROM main.sqlite_master WHERE type = 'table' {shadows}").fetchall()
        for (table,) in names:
            if table not in _LEFT_OUT:
                columns = ", ".join(_columns(connection, "main", table) & _columns(connection, "source", table))
                former = "WHERE name NOT LIKE 'refused:%'" if table == "counter" else ""
                connection.execute(
                    f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table} {former}"
                )
        connection.execute("COMMIT")


def _columns(connection: sqlite3.Connection, schema: str, table: str) -> set[str]:
    return {f'"{row[1]}"' for row in connection.execute(f"PRAGMA {schema}.table_info({table})")}


def _counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in _COUNTED}


def living(path: Path) -> tuple[int, int]:
    """(due now, all) of the valid endpoints."""
    with closing(sqlite3.connect(path)) as connection:
        due, valid = connection.execute(
            "SELECT total(health = 'alive' AND due_at <= ?), count(*) FROM endpoint WHERE status = 'valid'",
            (time.time(),),
        ).fetchone()
    return int(due), int(valid)


def _lives_on(place: Place, web: DemoWeb) -> float:
    """Seconds from the start of a daemon until every service was asked again, and answered."""
    began, everything = time.time(), living(place.db)[1]
    asked = "SELECT count(*) FROM endpoint WHERE status = 'valid' AND health = 'alive' AND last_probe >= ?"
    with place.daemon("--proxy", web.proxy_url, "--delay", "0") as daemon:
        seconds = wait_for(lambda: place.number(asked, began) >= everything, "all services asked again")
        if daemon.end() != 0:
            raise SystemExit(daemon.log())
    return seconds
