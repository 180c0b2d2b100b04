"""How a run of the tests ends on a machine that lacks something."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.parts import GEOPANDAS, POSTGRESQL, skipped_parts
from tests.support.places import ROOT

pytestmark = pytest.mark.machine

IN_CHROMIUM = "tests/browser/test_portals.py"


def run_tests(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as a newcomer does, outside CI and with one worker, in a process of its own."""
    env = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_TIMEOUT")}
    env = {name: value for name, value in env.items() if not name.startswith(("PYTEST_XDIST", "GEOCRAWL_BROWSER"))}
    command = [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env={**env, **environ}, capture_output=True, text=True, check=False)


def test_the_last_lines_name_a_missing_part_and_how_to_get_it() -> None:
    done = run_tests(IN_CHROMIUM, PATH="/nowhere")
    *_, told, counts = done.stdout.splitlines()
    skipped = re.search(r"(\d+) skipped", counts)
    assert done.returncode == 0 and skipped is not None
    assert told == f"Chromium: {skipped[1]} tests skipped; apt install chromium"


@pytest.mark.long
def test_in_ci_a_missing_part_is_a_failure() -> None:
    done = run_tests(IN_CHROMIUM, "-x", PATH="/nowhere", CI="1")
    assert done.returncode != 0 and "needs Chromium: apt install chromium" in done.stdout


def test_a_test_that_hangs_ends_with_its_stack(tmp_path: Path) -> None:
    hanging = "import threading\n\ndef hang():\n    threading.Event().wait()\n\ndef test_it():\n    hang()\n"
    (tmp_path / "test_hanging.py").write_text(hanging)
    done = run_tests("-c", str(ROOT / "pyproject.toml"), "--timeout", "2", str(tmp_path))
    assert done.returncode == 1
    assert "Timeout" in done.stdout and "threading.Event().wait()" in done.stdout


def test_each_part_is_told_once_with_the_number_of_its_tests() -> None:
    reasons = [POSTGRESQL.reason, GEOPANDAS.reason, "Skipped: " + POSTGRESQL.reason, "some webs on every engine"]
    assert skipped_parts(reasons) == [
        "PostgreSQL: 2 tests skipped; apt install postgresql",
        "geopandas: 1 test skipped; .venv/bin/pip install geopandas",
    ]
