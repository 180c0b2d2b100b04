"""`geocrawl status`: what bounds the daemon, and what it does next."""

from __future__ import annotations

import json
from pathlib import Path

from geocrawl.cli.status_text import status_lines
from geocrawl.demo.web import DemoWeb
from geocrawl.settings import Settings
from geocrawl.store.queries.status import status
from tests.support import forked
from tests.support.processes import clean_environment
from tests.support.world import World

BOUNDS = {"ALLOW": "example", "DENY": "a.example,b.example,c.example,d.example", "HOURS": "22-6", "PAGES_PER_DAY": "7"}


def test_it_tells_the_limits_and_the_next_work(tmp_path: Path) -> None:
    bounds = {f"GEOCRAWL_{name}": value for name, value in BOUNDS.items()}
    env = clean_environment(tmp_path, GEOCRAWL_DB=str(tmp_path / "c.db"), GEOCRAWL_SIBLINGS="0", **bounds)
    with DemoWeb() as web:
        command = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet")
        done = forked.geocrawl(command, env=env)
    assert done.returncode == 0, done.stderr
    lines = forked.geocrawl(["status"], env=env).stdout.splitlines()
    (limits,) = [line for line in lines if line.startswith("limits")]
    assert limits.split(maxsplit=1)[1] == (
        "7 pages a day, 22-6 UTC, allow example, deny a.example b.example c.example and 1 more"
    )
    (next_,) = [line for line in lines if line.startswith("next")]
    assert "a service is probed again in " in next_ and "a page is read again in 6d " in next_
    told = json.loads(forked.geocrawl(["status", "--json"], env=env).stdout)
    assert told["deny"] == ["a.example", "b.example", "c.example", "d.example"] and told["pages_per_day"] == 7
    assert set(told["next"]) >= {"probe", "page"}


def test_a_new_catalogue_has_no_next_work(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    found = status(world.database.connection, world.clock.now())
    lines = list(status_lines(found, tmp_path, world.clock.now(), Settings()))
    assert found.next == {} and not any(line.startswith("next") for line in lines)
    assert any("10,000 pages a day, at all hours" in line for line in lines)
