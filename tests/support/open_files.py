"""Use up all the files that this process may open, for a while."""

from __future__ import annotations

import os
import resource
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class NoMoreFiles:
    """While its context is open, or between `strike` and `mend`, this process may open no more files."""

    def __init__(self) -> None:
        self._limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._taken = ExitStack()

    def __enter__(self) -> Self:
        self.strike()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.mend()

    def strike(self) -> None:
        """Lower the limit to what is open, and take the free numbers below."""
        most = max(int(each.name) for each in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (most + 1, self._limits[1]))
        with suppress(OSError):
            while True:
                self._taken.callback(os.close, os.open("/dev/null", os.O_RDONLY))

    def mend(self) -> None:
        """Let the process open files again."""
        resource.setrlimit(resource.RLIMIT_NOFILE, self._limits)
        self._taken.close()
