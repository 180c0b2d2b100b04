"""`geocrawl status`: what bounds the daemon, and what it does next."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

from sqlalchemy import insert

from geocrawl.cli.status import status_lines
from geocrawl.demo.web import DemoWeb
from geocrawl.settings import Settings
from geocrawl.store.database.schema.tables import HEALTH_EVENT
from geocrawl.store.frontier.status import read_status
from tests.support import forked
from tests.support.processes import clean_environment
from tests.support.world import World, candidate, link, verdict

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
    found = read_status(world.database.connection, world.clock.now())
    lines = list(status_lines(found, tmp_path, world.clock.now(), Settings()))
    assert found.next == {} and not any(line.startswith("next") for line in lines)
    assert any("10,000 pages a day, at all hours" in line for line in lines)


def test_the_reasons_add_up_and_the_end_of_a_run_is_a_sentence(tmp_path: Path) -> None:
    env = clean_environment(tmp_path, GEOCRAWL_DB=str(tmp_path / "c.db"))
    with DemoWeb() as web:
        command = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet")
        assert forked.geocrawl(command, env=env).returncode == 0
    lines = {line.split()[0]: line for line in forked.geocrawl(["status"], env=env).stdout.splitlines()}
    told = json.loads(forked.geocrawl(["status", "--json"], env=env).stdout)
    assert len(told["reasons"]) > 6
    counts = [int(each.rpartition(" ")[2]) for each in lines["not"].split(",")]
    assert sum(counts) == sum(told["reasons"].values()) == told["endpoints"]["invalid"] + told["endpoints"]["unknown"]
    assert lines["not"].endswith(f", others {counts[-1]}")
    assert lines["health"].split(maxsplit=1)[1].startswith(f"endpoints: {told['health']['alive']} alive")
    assert lines["run"].endswith("ended: only failed addresses were left, to be tried again later")

    with sqlite3.connect(tmp_path / "c.db") as database:
        (refused,) = database.execute("SELECT count(*) FROM url WHERE state = 'refused'").fetchone()
    assert sum(told["refused"].values()) == refused >= told["frontier"]["states"]["refused"] > 0
    assert "candidate or unranked" in told["refused"] and "skipped" not in lines

    alive = told["health"]["alive"]
    assert alive > told["services"], "two addresses of one service are alive: to call them services is untrue"

    why = forked.geocrawl(["why", told["failures"][0][0]], env=env).stdout
    assert " UTC as link “" in why and "failed 1 time;" in f"{why.strip()};"
    for asked in ("history", "show"):
        unknown = forked.geocrawl([asked, "9999"], env=env)
        assert (unknown.returncode, unknown.stderr.partition(" (")[0]) == (
            1,
            "geocrawl: no service 9999 in the catalogue",
        )


def test_the_first_line_is_a_verdict_with_the_command_that_helps(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    found, now = read_status(world.database.connection, world.clock.now()), world.clock.now()
    assert next(status_lines(found, tmp_path, now, Settings())).startswith("well ")
    bad = replace(found, watches_given_up=2, killers=("http://a.example/wms",))
    first, second, *others = status_lines(bad, tmp_path, now, Settings())
    assert first.startswith("LOOK AT     kills: ") and "`geocrawl retry --reason killed`" in first
    assert second.startswith("            watches: ") and "`geocrawl watch list`" in second
    assert not any(line.startswith(("well", "LOOK AT")) for line in others)


def test_what_is_new_dead_and_back_in_a_week_is_counted_by_the_last_change(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    database, now, day = world.database, 1.7e9, 86_400.0
    lives = {
        "new": [(1, "new", "alive")],
        "new and dead": [(2, "new", "alive"), (1, "alive", "down")],
        "back": [(3, "down", "alive")],
        "dead and back": [(3, "alive", "down"), (1, "down", "alive")],
        "old": [(9, "new", "alive")],
    }
    for number, life in enumerate(lives.values(), 1):
        world.record(candidate(f"http://{number}.example/wms"), verdict("html"), now - 30 * day)
        for ago, before, after in life:
            event = {"endpoint_id": number, "at": now - ago * day, "before": before, "after": after, "reason": ""}
            with database.transaction:
                database.connection.execute(insert(HEALTH_EVENT), event)
    status = read_status(database.connection, now)
    assert status.week == {"new": 1, "dead": 1, "back": 2}
    assert any(
        "this week   endpoints: 1 new, 1 dead, 2 back" in line
        for line in status_lines(status, tmp_path, now, Settings())
    )


def test_failures_of_former_days_are_not_shown(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    now = world.clock.now()
    found = replace(
        read_status(world.database.connection, now),
        failures=(("http://a.example/", "http-404", now - 60), ("http://b.example/", "http-404", now - 2 * 86_400)),
    )
    shown = [line for line in status_lines(found, tmp_path, now, Settings()) if line.startswith("failed")]
    assert len(shown) == 1 and "a.example" in shown[0]


def test_the_order_of_waiting_pages_is_compared_with_their_priorities(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    tiers_and_sub_queues = ((3, 8), (2, 4), (2, 4), (1, 5), (0, 0))
    links = [
        link(f"a.example/{number}", tier)._replace(sub_queue=sub_queue)
        for number, (tier, sub_queue) in enumerate(tiers_and_sub_queues)
    ]
    world.visit(*links)
    status = read_status(world.database.connection, 0.0)
    assert status.order_agreement is not None
    assert round(status.order_agreement, 4) == 0.6842, "the ranks 5, 3.5, 3.5, 2, 1 and 5, 2.5, 2.5, 4, 1"
    (line,) = [line for line in status_lines(status, tmp_path / "c.db", 0.0, Settings()) if line.startswith("order ")]
    assert "0.68, over waiting pages" in line
    assert read_status(World(tmp_path / "new.db").database.connection, 0.0).order_agreement is None
