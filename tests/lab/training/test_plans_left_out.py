"""The measurement that leaves one plan out, on small webs: learnt on other plans, judged beside the oracle."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.places import ROOT

NAMES = ("oracle", "fusion", "bfs")


@pytest.mark.long
def test_fusion_learns_on_other_plans_and_is_judged_beside_bfs_and_the_oracle() -> None:
    judged = "--strategies fusion,bfs --plans wiki --webs 1 --pages 200"
    options = f"{judged} --train-plans wiki,agency --train-webs 1 --train-pages 200 --rounds 1"
    command = [sys.executable, "-m", "benchmarks", "plans", *options.split(), "--no-write"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "without wiki:" in done.stdout
    table = [line.split() for line in done.stdout.splitlines() if line.startswith(NAMES)]
    areas = {words[0]: float(words[1]) for words in table if words[1][:1].isdigit()}
    assert areas["oracle"] > max(areas["fusion"], areas["bfs"]) > 0
    assert "finds less than bfs" not in done.stdout
