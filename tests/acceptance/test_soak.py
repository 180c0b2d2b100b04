"""Ten simulated days of the daemon with faults injected (`tests.support.soak` has the whole quarter of a year)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import soak


@pytest.mark.acceptance
def test_ten_days_of_faults_leave_a_sound_catalogue(tmp_path: Path) -> None:
    figures = soak.simulate(tmp_path, days=10, pages=400, seed=3, say=lambda line: None)
    assert figures["integrity"] == "ok" and figures["leases_lost"] == 0
    assert figures["least_gap_s"] >= figures["delay_s"]
    assert figures["requests_a_host_a_day"] <= figures["requests_a_host_a_day_set"] + 20, "a visit under way is ended"
    assert figures["not_modified"] > 0 and figures["bodies_mib"]["spared"] > 0
    memory = figures["memory_mib"]
    assert memory["end"] < memory["start"] + 30, "flat"
    deaths = figures["deaths"]
    # One that is back within a few days may pass between two probes.
    assert deaths["happened"] > 3 and deaths["noticed"] >= 0.5 * deaths["happened"]
    assert deaths["median_days"] <= 3
