"""Log lines of a visit carry its id, and the id leads to the visit's row in the database."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from pathlib import Path
from typing import Any

from geocrawl.demo import DemoWeb
from geocrawl.sanitize import masked
from tests.support import forked
from tests.support.processes import clean_environment

OF_VISITS = {"leased", "settled", "failed", "service found", "seed not read"}


def crawl(home: Path, *arguments: str) -> list[dict[str, Any]]:
    """The log lines of a crawl of the demo's web."""
    with DemoWeb() as web:
        seeds = [*web.seeds, f"{web.seeds[0]}never-there"]
        options = ("--db", str(home / "c.db"), "--proxy", web.proxy_url, "--delay", "0", "--max-pages", "30")
        env = clean_environment(home, GEOCRAWL_SIBLINGS="0", GEOCRAWL_MAPS="false")
        done = forked.geocrawl(("crawl", *seeds, "--log-json", *options, *arguments), env=env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_every_line_of_a_visit_has_its_id_and_no_other_line_has_one(tmp_path: Path) -> None:
    lines = crawl(tmp_path, "--log-visits")
    assert {line["event"] for line in lines} >= OF_VISITS
    assert all(("visit" in line) == (line["event"] in OF_VISITS) for line in lines)
    events = defaultdict(list)
    for line in lines:
        if "visit" in line:
            events[line["visit"]].append(line["event"])
    assert all(seen[0] == "leased" and seen[1] in ("settled", "failed") for seen in events.values()), events
    assert {"leased", "settled", "service found"} in map(set, events.values())


def test_an_id_leads_to_the_row_and_never_comes_again(tmp_path: Path) -> None:
    first, second = crawl(tmp_path, "--log-visits"), crawl(tmp_path, "--log-visits", "--again")
    ended = [line for line in first + second if line["event"] in ("settled", "failed")]
    assert len({line["visit"] for line in ended}) == len(ended)
    with sqlite3.connect(tmp_path / "c.db") as connection:
        addresses = dict(connection.execute("SELECT id, address FROM url").fetchall())
    named = [(masked(addresses[int(line["visit"].partition(".")[0])]), line["url"]) for line in ended]
    assert [pair for pair in named if not pair[0].startswith(pair[1].removesuffix("…"))] == []
    found = next(line for line in first if line["event"] == "service found")
    for command in ("why", "show"):
        asked = (command, found["url"], "--db", str(tmp_path / "c.db"))
        told = forked.geocrawl(asked, env=clean_environment(tmp_path))
        assert f"visit={found['visit'].partition('.')[0]}." in told.stdout


def test_without_being_asked_only_what_matters_is_logged(tmp_path: Path) -> None:
    events = {line["event"] for line in crawl(tmp_path)}
    assert "service found" in events and not events & {"leased", "settled", "failed"}
