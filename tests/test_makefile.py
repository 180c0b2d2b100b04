"""What `make` does when Python is too old for geocrawl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("left", [False, True], ids=["no environment", "an environment of the same Python"])
def test_a_python_that_is_too_old_leaves_no_environment(tmp_path: Path, left: bool) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "requirements.lock"):
        (tmp_path / name).touch()
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    if left:
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
        shutil.copy(old, tmp_path / ".venv" / "bin" / "python")
    command = ["make", "env", "PYTHON=./old-python"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "needs Python 3.11 or later" in done.stderr) == (2, True)
    assert not (tmp_path / ".venv").exists()
