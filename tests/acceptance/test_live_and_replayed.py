"""One live crawl of a made world through a server, and its replay in memory: the same pages, finds and area."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.lab.made_worlds.folder import make
from tests.acceptance.live_and_replayed import live_and_replayed


@pytest.mark.acceptance
@pytest.mark.shared
@pytest.mark.timeout(1_800)
def test_a_live_crawl_and_its_replay_agree(shared: Path, tmp_path: Path) -> None:
    make("mixed", 400, 3, tmp_path / "mixed", ())
    figures = live_and_replayed(tmp_path / "mixed", "gws", tmp_path / "work")
    assert figures["live"] == figures["replayed"] and figures["same_catalogue"]
    assert figures["live"]["pages"] > 200 and figures["live"]["found"] > 5
