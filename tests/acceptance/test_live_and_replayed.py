"""One live crawl through the server of recorded worlds, and its replay in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.live_and_replayed import live_and_replayed


@pytest.mark.acceptance
@pytest.mark.shared
@pytest.mark.timeout(900)
@pytest.mark.parametrize("strategy", ["bfs", "gws"])
def test_a_live_crawl_and_its_replay_agree(shared: Path, tmp_path: Path, strategy: str) -> None:
    figures = live_and_replayed("portal", strategy, tmp_path)
    assert figures["live"] == figures["replayed"]
