"""Crawls of a recorded world to their end, undisturbed and killed, and answers made to exhaust the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.acceptance import kills
from tests.attacks import bombs
from tests.support import world_crawls
from tests.support.places import ROOT

pytestmark = pytest.mark.acceptance

BOMB_MIB = 256
PAGE_LIMIT_MIB, PROBE_LIMIT_MIB = 5, 128


@pytest.mark.shared
@pytest.mark.timeout(1_800)
def test_the_portal_is_crawled_politely_nothing_false_is_accepted_and_kills_change_nothing(
    shared: Path, tmp_path: Path
) -> None:
    """Breadth-first, by gws, and by gws killed three times: the second is what both others are compared with."""
    portal, quickly = world_crawls.folder("portal"), ("--slow-seconds", "2")
    world_crawls.crawl(portal, tmp_path / "bfs", world_crawls.Plan("bfs"), *quickly)
    bfs = world_crawls.score(portal, tmp_path / "bfs")
    figures = kills.measure(portal, 3, 2015, tmp_path, *quickly)
    for row in (bfs, *figures["scores"].values()):
        assert (row["false_accepts"], row["robots_violations"]) == (0, 0), row
    assert figures["scores"]["calm"]["wms_found"] >= 0.99 * bfs["wms_found"]
    assert figures["kills"] == 3
    assert figures["integrity_check"] == "ok"
    assert (figures["only_undisturbed"], figures["only_killed"]) == ([], [])


@pytest.mark.timeout(1_800)
def test_bombs_and_endless_bodies_end_at_their_limits() -> None:
    rows = {(row["case"], row["asked_as"]): row for row in bombs.measure(BOMB_MIB)["cases"]}
    assert rows.pop(("small page", "page"))["ended_by"] == "its end"
    assert rows["endless slow body", "page"]["ended_by"] == "timeout-total"
    assert rows["endless fast body", "page"]["ended_by"] == "body-limit"
    for case in bombs.ENCODINGS:
        assert rows[case, "page"]["ended_by"] in ("ratio", "body-limit"), case
    for (case, asked_as), row in rows.items():
        # The body may stand in memory twice, as pieces and as a whole.
        limit_mib = 2 * (PAGE_LIMIT_MIB if asked_as == "page" else PROBE_LIMIT_MIB) + 16
        assert row["more_mib"] < limit_mib, (case, asked_as, row)


@pytest.mark.timeout(1_800)
def test_a_fresh_clone_with_an_empty_home_runs_the_demo(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    subprocess.run(["git", "clone", "-q", str(ROOT), str(tmp_path / "geocrawl")], check=True)
    kept = ("PATH", "LANG", "PIP_CERT", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "SSL_CERT_FILE")
    env = {**{name: os.environ[name] for name in kept if name in os.environ}, "HOME": str(tmp_path / "home")}
    command = ["make", "demo"]
    done = subprocess.run(command, cwd=tmp_path / "geocrawl", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
