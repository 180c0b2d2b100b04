"""Measure and limit the memory of the processes that this one started (Linux: /proc; elsewhere none are known)."""

from __future__ import annotations

import os
import re
import resource
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_PARENT = re.compile(r"\) \S (\d+) ")
"""The parent's number in /proc/PID/stat, behind the command's name and the state."""
_OWN_MEMORY = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.M)


def descendants(root: int) -> list[int]:
    """Return the numbers of all processes that descend from `root`, parents first."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if found := _PARENT.search((folder / "stat").read_text("utf-8", "replace")):
                children[int(found[1])].append(int(folder.name))
    found_pids, waiting = [], [root]
    while waiting:
        of_parent = children.get(waiting.pop(), [])
        found_pids += of_parent
        waiting += of_parent
    return found_pids


def called_with(argument: str) -> list[int]:
    """Return the numbers of this process's descendants that have an argument on their command line."""
    wanted, found = argument.encode(), []
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            if wanted in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def memory_bytes(pids: list[int]) -> int:
    """Return the memory in use by processes, without files that are mapped into it."""
    total_kb = 0
    for pid in pids:
        with suppress(OSError):
            status = (_PROC / str(pid) / "status").read_text("utf-8", "replace")
            total_kb += sum(int(part) for part in _OWN_MEMORY.findall(status))
    return total_kb * 1024


def limit_memory(pids: list[int], most_bytes: int) -> None:
    """Have the kernel refuse more memory to each of these processes, and to those that they start from now on."""
    if not hasattr(resource, "prlimit"):
        return
    for pid in pids:
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (most_bytes, most_bytes))
