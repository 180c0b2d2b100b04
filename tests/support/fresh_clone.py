"""A fresh clone with an empty home and no recorded data beside it: `make demo`, then `make test`, and their times."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

KEPT = ("PATH", "LANG", "PIP_CERT", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "SSL_CERT_FILE")
TARGETS = ("env", "demo", "test")


def measure(targets: list[str]) -> dict[str, Any]:
    """Seconds of each target (`env`, the installation, is measured apart) and its last line."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-fresh-") as temporary:
        home, clone = Path(temporary) / "home", Path(temporary) / "work" / "geocrawl"
        home.mkdir()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        env = {**{name: os.environ[name] for name in KEPT if name in os.environ}, "HOME": str(home)}
        return {target: _make(target, clone, env) for target in targets}


def _make(target: str, clone: Path, env: dict[str, str]) -> dict[str, Any]:
    begun = time.monotonic()
    done = subprocess.run(["make", target], cwd=clone, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"make {target} failed in a fresh clone:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    lines = done.stdout.strip().splitlines()
    return {"wall_s": round(time.monotonic() - begun, 1), "last_line": lines[-1] if lines else ""}
