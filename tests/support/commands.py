"""Run a command of geocrawl in this process, with streams of its own, as `geocrawl …` would."""

from __future__ import annotations

import io
import sys
from typing import NamedTuple

import pytest

from geocrawl.cli import main


class CommandResult(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


class _Terminal(io.BytesIO):
    """The bytes that a terminal gets."""

    def isatty(self) -> bool:
        return True


def geocrawl(*arguments: str, columns: int = 0) -> CommandResult:
    """Run `geocrawl ARGUMENTS`; fail on a traceback.

    `columns`: width of the terminal that it prints to, 0 for a pipe.
    """
    buffers = _Terminal() if columns else io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(buffer, "utf-8") for buffer in buffers]  # kept: a dropped one closes its buffer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        if columns:
            patch.setenv("COLUMNS", str(columns))
            patch.setenv("LINES", "60")
            patch.setenv("TERM", "dumb")
        patch.setattr(sys, "argv", ["geocrawl", *arguments])
        patch.setattr(sys.modules["__main__"], "__package__", None)  # else usages begin with "python -m pytest"
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = (buffer.getvalue().decode() for buffer in buffers)  # closed with the streams that are replaced
    assert "Traceback" not in err
    return CommandResult(int(ended.value.code or 0), out, err)
