"""Name the command by which geocrawl is started: for the service's unit, and for commands to copy into a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def program() -> tuple[str, ...]:
    """Return the words of the command that starts this geocrawl, with an absolute path."""
    beside = Path(sys.executable).with_name("geocrawl")
    found = str(beside) if beside.exists() else shutil.which("geocrawl")
    return (os.path.abspath(found),) if found else (sys.executable, "-m", "geocrawl")  # noqa: PTH100  # a venv's links stay


def in_a_shell(*arguments: str) -> str:
    """Return the line that runs this geocrawl with these arguments: `geocrawl …` where PATH leads to it."""
    words = program()
    found = shutil.which("geocrawl")
    if found and len(words) == 1 and Path(found).resolve() == Path(words[0]).resolve():
        words = ("geocrawl",)
    return shlex.join((*words, *arguments))
