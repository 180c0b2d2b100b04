"""Read how much memory this process has."""

from __future__ import annotations

import os
from pathlib import Path


def resident_mib() -> float:
    """Return the resident memory of this process in MiB (proc(5), statm)."""
    return round(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)
