"""The show of the papers' claims: walks in one queue and in turns, and the table of docs/evaluation.md."""

from __future__ import annotations

from pathlib import Path

from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.study import study
from geocrawl.lab.recorded_worlds.walk import read_web
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.priority.registry import make_strategy
from tests.lab.contest.one_queue import OneQueue, TurnsWalk, compare
from tests.lab.contest.papers_table import table
from tests.lab.experiment_world import HUB, OFF, ON, PAGES, write_experiment_world

HOMES = [page for page in (*ON, *OFF) if page.endswith("/")]


def test_in_one_queue_the_first_seen_of_equals_comes_first_and_in_turns_every_host(tmp_path: Path) -> None:
    world = World(write_experiment_world(tmp_path / "sites"))
    web = read_web(world)
    walks = [walk(web, make_strategy("bfs", {})) for walk in (OneQueue, TurnsWalk)]
    for walk in walks:
        walk.run()
        assert len(set(walk.read)) == len(walk.read) == PAGES and walk.read[:25] == [HUB, *HOMES]
    queue, turns = (walk.read[25:] for walk in walks)
    assert queue[:6] == [*ON[1:4], *ON[5:8]]
    assert turns[:24] == [f"{home}a.html" for home in HOMES]

    rates = compare(web, study(world, PageJudge({}, -1.0, {})), ["bfs"])
    assert rates["pages"] == 32  # the hub, 24 homes of which 12 are relevant, 7 pages more that are
    assert rates["bfs"]["one queue"] == {"harvest_rate": round(19 / 32, 4), "discovery_rate": round(19 / 48, 4)}
    assert rates["bfs"]["hosts take turns"] == rates["bfs"]["one queue"]


def test_the_table_has_a_line_for_each_claim_and_a_column_for_each_world() -> None:
    claim = {"paper": "gws (Shen)", "claim": "fewer pages", "presets": "gws:paper, bfs", "web": "portal"}
    seen = {**claim, "figures": "pages: 12 for gws:paper, 1,024 for bfs (a factor of 85.33)", "verdict": "seen"}
    found = {**claim, "web": "mixed", "figures": "9 found of 10", "verdict": "not seen"}
    seeds = {**claim, "web": "mixed (ten seeds)", "figures": "", "verdict": "not comparable"}
    lines = list(table({"portal": {"claims": [seen]}, "mixed": {"claims": [found, seeds]}}))
    assert lines == [
        "| claim | presets | portal | mixed |",
        "|---|---|---|---|",
        "| gws: fewer pages | gws:paper, bfs | **seen**, pages 12 : 1,024 | **not seen**, 9 found of 10 |",
        "| gws: fewer pages (ten seeds) | gws:paper, bfs |  | not comparable |",
    ]
