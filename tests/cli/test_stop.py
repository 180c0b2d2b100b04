"""`geocrawl stop`: it ends the processes of this database, and no other that has one of their numbers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from geocrawl.cli import app
from geocrawl.demo import DemoWeb
from geocrawl.store.database.database import Database
from geocrawl.store.database.owner import Owner, started_ticks, this_process
from tests.support.processes import clean_environment, geocrawl
from tests.support.world import World


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    World(tmp_path / "c.db").database.close()
    return tmp_path / "c.db"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that does something else, and runs until it is signalled."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


def stop(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["stop", "--db", str(path), *arguments])


def write_run(path: Path, owner: Owner) -> None:
    """Write an unfinished run of a process into the database."""
    database = Database.open(path, create=False, clock=World(path.with_name("clock.db")).clock)
    with database.transaction:
        database.connection.execute(
            "INSERT INTO run (started_at, owner, strategy, settings) VALUES (?, ?, 'gws', '{}')",
            (time.time(), owner.text),
        )
    database.close()


def test_a_crawl_is_ended_and_loses_nothing(tmp_path: Path) -> None:
    path, env = tmp_path / "c.db", clean_environment(tmp_path)
    with DemoWeb(latency_s=0.2) as web:
        command = geocrawl("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0.5", "--db", str(path))
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as crawl:
            try:
                end = time.monotonic() + 300
                while not web.requests:
                    assert time.monotonic() < end
                    time.sleep(0.1)
                done = stop(path)
                assert (done.exit_code, done.stderr) == (0, "")
                assert done.stdout.startswith(f"process {crawl.pid} on ") and done.stdout.endswith("has ended.\n")
                assert "Ended: stopped" in crawl.communicate(timeout=300)[0]
                assert crawl.returncode == 0
            finally:
                crawl.kill()
    assert stop(path).stdout == f"No daemon, crawl or harvest runs on {path}.\n"


def test_a_process_that_has_the_number_of_a_dead_crawl_is_left_alone(
    catalogue: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    write_run(catalogue, replace(this_process(), pid=sleeper.pid, started=(started_ticks(sleeper.pid) or 0) - 1))
    assert stop(catalogue).exit_code == 0
    assert sleeper.poll() is None


def test_a_process_of_unknown_start_is_left_alone(catalogue: Path, sleeper: subprocess.Popen[bytes]) -> None:
    write_run(catalogue, replace(this_process(), pid=sleeper.pid, started=0))
    done = stop(catalogue)
    assert (done.exit_code, sleeper.poll()) == (3, None)
    assert "cannot be ended from here" in done.stderr


def test_one_that_does_not_end_is_named(catalogue: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            write_run(catalogue, replace(this_process(), pid=process.pid, started=started_ticks(process.pid) or 0))
            done = stop(catalogue, "--wait", "0")
            assert (done.exit_code, "still runs after 0 s" in done.stderr) == (3, True)
        finally:
            process.kill()


def test_a_daemon_on_another_machine_is_refused(catalogue: Path, sleeper: subprocess.Popen[bytes]) -> None:
    database = Database.open(catalogue, create=False, clock=World(catalogue.with_name("clock.db")).clock)
    here = this_process()
    holder = {"machine": "elsewhere", "pid": sleeper.pid, "since": time.time(), "beat": time.time()}
    facts = {"started_ticks": started_ticks(sleeper.pid), "boot": here.boot, "namespace": here.namespace}
    database.set_meta("daemon:lease", json.dumps(holder | facts))
    database.close()
    done = stop(catalogue)
    assert (done.exit_code, sleeper.poll()) == (3, None)
    assert f"process {sleeper.pid} on elsewhere (daemon" in done.stderr
