"""What `make` says where it cannot do its work, and what it installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.places import ROOT

pytestmark = pytest.mark.machine

TOO_HEAVY = {"matplotlib", "scipy", "pyarrow", "duckdb", "mypy", "playwright", "ruff"}


def executable(path: Path, *lines: str) -> Path:
    """Write a shell script that stands for a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `make env` in a folder that has our Makefile; the programs of its `bin` come first."""
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
        (folder / name).touch()
    env = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(["make", "env", *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("left", [False, True], ids=["no environment", "an environment of the same Python"])
def test_a_python_that_is_too_old_leaves_no_environment(tmp_path: Path, left: bool) -> None:
    executable(tmp_path / "old-python", "exit 1")
    if left:
        executable(tmp_path / ".venv" / "bin" / "python", "exit 1")
    done = make(tmp_path, "PYTHON=./old-python")
    assert (done.returncode, "needs Python 3.11 or later" in done.stderr) == (2, True)
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("free_mb", "told"),
    [
        (90_000, "Not installed: the package index (PyPI) must be reachable."),
        (12, "Not installed: less than 1500 MB are free here."),
    ],
    ids=["no network", "a full disk"],
)
def test_an_installation_that_fails_ends_with_one_line_of_advice(tmp_path: Path, free_mb: int, told: str) -> None:
    executable(tmp_path / ".venv" / "bin" / "python", 'case "$*" in *pip*) echo "pip failed" >&2; exit 1;; esac')
    executable(tmp_path / "bin" / "df", "echo head", f"echo /dev/x 1 1 {free_mb} 1% /")
    done = make(tmp_path)
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert (done.returncode, said[0], len(said)) == (2, "pip failed", 2)
    assert said[1].startswith(told)
    assert not (tmp_path / ".venv" / ".installed").exists()


def names_in(lock: str) -> set[str]:
    """Return the packages of a lock."""
    return {_plain(line.partition("==")[0]) for line in (ROOT / lock).read_text().splitlines()}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_crawl_installs_what_geocrawl_needs_and_no_tools() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    of_crawl, of_development = names_in("requirements.lock"), names_in("requirements-dev.lock")
    needed, tools = (
        {_plain(re.split(r"[\[<>=;]", each)[0]) for each in declared}
        for declared in (project["project"]["dependencies"], project["dependency-groups"]["dev"])
    )
    assert needed <= of_crawl and tools <= of_crawl | of_development
    assert of_crawl & of_development == set()
    assert of_crawl & TOO_HEAVY == set()


def test_the_bytecode_of_a_run_is_kept() -> None:
    """Without it hundreds of processes compile all modules again."""
    command = ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), "-f", "-", "shown"]
    done = subprocess.run(
        command,
        input="shown:\n\t@echo $${PYTHONDONTWRITEBYTECODE-unset}\n",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "unset\n"


def test_no_test_is_left_out_by_every_target() -> None:
    """Cases are marked in helpers, too (`sampled`): the target that runs them names no files."""
    command = ["make", "-n", "--no-print-directory", "-o", "dev-env", "long"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (pytest_run,) = (line for line in done.stdout.splitlines() if " -m long" in line)
    assert pytest_run.endswith(" -m long")
