"""Read how much memory a process has."""

from __future__ import annotations

import os
from pathlib import Path


def resident_mib(pid: int | None = None) -> float:
    """Return the resident memory of a process in MiB (proc(5), statm), of this one by default."""
    pages = int(Path(f"/proc/{pid or os.getpid()}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)
