"""What a figure was measured on: commit, date and the kind of machine; no host name, no paths."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

MEASUREMENTS = ROOT / "build" / "measurements"


def describe() -> dict[str, Any]:
    """Commit (with '+' when files differ from it), date (UTC), processor, cores, memory in MiB, Python, system."""
    return {
        "commit": commit(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
            "python": platform.python_version(),
            "system": platform.system(),
        },
    }


def write(name: str, figures: dict[str, Any], folder: Path = MEASUREMENTS) -> Path:
    """Write `figures` with the machine's description to `folder/name.json`; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**describe(), **figures}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def commit(tree: Path = ROOT) -> str:
    """The commit of a checkout, with '+' when files of the package or of the measurements differ from it."""
    named = _git(tree, "rev-parse", "--short=12", "HEAD")
    # What is measured is the package; a figure file written a minute ago does not change it.
    parts = ("geocrawl", "benchmarks", "requirements.lock")
    return named + ("+" if _git(tree, "status", "--porcelain", "--untracked-files=no", "--", *parts) else "")


def _git(tree: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(tree), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
