"""`geocrawl stop`: it ends the processes of this database, and no other that has one of their numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from geocrawl.cli import app
from geocrawl.demo import DemoWeb
from geocrawl.store.database.database import Database
from geocrawl.store.database.life import SILENT_S, STOP
from tests.support import forked
from tests.support.daemons import LIMIT_S, wait_for
from tests.support.lives import beat, end
from tests.support.processes import clean_environment
from tests.support.world import ManualClock, World

OTHER = "elsewhere 0123abcd:7"


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    World(tmp_path / "c.db").database.close()
    return tmp_path / "c.db"


def stop(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["stop", "--db", str(path), *arguments])


def test_a_crawl_is_ended_and_loses_nothing(tmp_path: Path) -> None:
    path, env = tmp_path / "c.db", clean_environment(tmp_path)
    with DemoWeb(latency_s=0.2) as web:
        command = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0.5", "--db", str(path))
        crawl = forked.start(command, env=env, out=tmp_path / "out", err=tmp_path / "err")
        try:
            wait_for(lambda: web.requests, "a first request")
            done = stop(path)
            assert (done.exit_code, done.stderr) == (0, "")
            assert done.stdout.startswith(f"process {crawl.pid} on ") and done.stdout.endswith("has ended.\n")
            assert crawl.wait(LIMIT_S) == 0
            assert "Ended: stopped" in (tmp_path / "out").read_text()
        finally:
            crawl.kill()
    assert stop(path).stdout == f"No daemon, crawl or harvest runs on {path}.\n"


@pytest.fixture
def elsewhere(catalogue: Path) -> Iterator[Database]:
    """Yield a database on which a crawl of another machine works."""
    database = Database.open(catalogue, create=False, clock=ManualClock())
    with database.transaction:
        database.connection.execute(
            "INSERT INTO run (started_at, owner, strategy, settings) VALUES (?, ?, 'gws', '{}')", (time.time(), OTHER)
        )
    beat(database, OTHER, time.time())
    yield database
    database.close()


def test_a_dead_crawl_is_asked_nothing(catalogue: Path, elsewhere: Database) -> None:
    beat(elsewhere, OTHER, time.time() - SILENT_S)
    assert stop(catalogue).stdout == f"No daemon, crawl or harvest runs on {catalogue}.\n"
    assert elsewhere.meta(STOP + OTHER) is None


def test_a_process_elsewhere_is_asked_and_named_while_it_does_not_end(catalogue: Path, elsewhere: Database) -> None:
    done = stop(catalogue, "--wait", "0")
    assert (done.exit_code, "process 7 on elsewhere" in done.stderr) == (3, True)
    assert "still runs after 0 s" in done.stderr
    assert elsewhere.meta(STOP + OTHER) == ""
    end(elsewhere, OTHER)
    assert stop(catalogue).exit_code == 0
