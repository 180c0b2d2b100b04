"""`geocrawl status --watch`: live, until Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from geocrawl.store.database.database import Database
from tests.support import commands, forked
from tests.support.daemons import LIMIT_S, wait_for
from tests.support.processes import clean_environment
from tests.support.world import World


def test_it_shows_what_changes_and_ends_with_0_at_ctrl_c(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    out = tmp_path / "out"
    command = ("status", "--watch", "--db", str(tmp_path / "c.db"))
    env = clean_environment(tmp_path, COLUMNS="120", TERM="xterm", FORCE_COLOR="1")
    process = forked.start(command, env=env, out=out, err=out)
    try:
        wait_for(lambda: out.exists() and "queue       0 pages" in out.read_text("utf-8"), "an empty queue")
        world.seed("a.example/1", "b.example/2")
        wait_for(lambda: "queue       2 pages" in out.read_text("utf-8"), "two pages")
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 0
    finally:
        process.kill()
    assert "Traceback" not in out.read_text()


def test_it_is_not_for_programs(tmp_path: Path) -> None:
    Database.open(tmp_path / "c.db", create=True, clock=World(tmp_path / "d.db").clock).close()
    done = commands.geocrawl("status", "--watch", "--json", "--db", str(tmp_path / "c.db"))
    assert done.code == 2 and "--watch" in done.err


def test_status_names_the_size_and_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    World(tmp_path / "c.db").database.close()
    monkeypatch.setenv("GEOCRAWL_MAX_DB", "1MiB")
    assert " of 1.0 MiB" in commands.geocrawl("status", "--db", str(tmp_path / "c.db")).out
