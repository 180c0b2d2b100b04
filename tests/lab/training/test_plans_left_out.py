"""Measurements of fusion on small made webs: one plan left out, and walks beside those of an earlier run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.long
def test_the_order_of_fusion_is_even_with_itself_on_the_same_webs(tmp_path: Path) -> None:
    options = "--plans wiki,agency --seeds 7 --pages 200 --rates 0.12"
    command = [sys.executable, "-m", "benchmarks", "walks", *options.split(), "--no-write"]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (tmp_path / "first.json").write_text(first[first.index("{\n") : first.rindex("}") + 1])
    again = subprocess.run([*command, "--beside", tmp_path / "first.json"], cwd=ROOT, capture_output=True, check=True)
    made = json.loads(again.stdout[again.stdout.index(b"{\n") : again.stdout.rindex(b"}") + 1])["made"]
    assert 0.0 < made["mean"] < 1.0
    assert (made["webs"], made["ratio"], made["difference"]) == (2, 1.0, 0.0)
    assert (made["won"], made["lost"]) == (0, 0)
