"""The estimate of a crawl's end, against crawls whose progress was recorded."""

from __future__ import annotations

import json
from typing import Any

from geocrawl.cli.time_left import Progress, TimeLeft
from tests.support.places import ROOT

RECORDED = ROOT / "tests/expectations/crawl_progress.json"


def estimates(run: dict[str, Any], share: float) -> float:
    """Return the estimate, after a share of a run, of the time that is left, divided by that time."""
    known = TimeLeft(run["max_pages"])
    for row in run["progress"]:
        known.note(now := Progress(*row))
        if now.seconds >= share * run["seconds"]:
            return float((known.seconds() or 0.0) / (run["seconds"] - now.seconds))
    raise ValueError(run["crawl"])


def test_after_a_third_of_a_run_the_estimate_is_within_a_factor_of_two() -> None:
    runs = json.loads(RECORDED.read_text("utf-8"))["runs"]
    assert len(runs) >= 10
    for share in (1 / 3, 0.45):
        ratios = {run["crawl"]: estimates(run, share) for run in runs}
        wrong = {crawl: round(ratio, 2) for crawl, ratio in ratios.items() if not 0.5 <= ratio <= 2}
        assert len(wrong) <= len(runs) // 10, (share, wrong)


def test_nothing_is_said_while_a_queue_without_limit_grows() -> None:
    known = TimeLeft()
    for second in range(100):
        known.note(Progress(second, second, second, 10 + 2 * second, 0, 5, 1.0))
    assert known.seconds() is None
    for second in range(100, 200):
        known.note(Progress(second, second, second, 410 - 2 * second, 0, 5, 1.0))
    assert known.seconds() is not None
