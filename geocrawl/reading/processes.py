"""Hand answers to processes that read one at a time each, and report answers that could not be read.

The processes are anyio's: started when they are needed, kept for the next answer, replaced when one ended, and ended
with the event loop or with the task that waits for them.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from geocrawl.model import Failure, FailureCode, Page
from geocrawl.reading.job import WALL_FACTOR, Limits, OutOfMemory, Raised, answer
from geocrawl.reading.weight import is_heavy

if TYPE_CHECKING:
    from anyio import CapacityLimiter

T = TypeVar("T")

_MOST_BYTES_IN_LOOP = 256 * 1024
"""A longer result is unpickled in a thread."""
_MOST_BYTES_IN_PIPE = 1024 * 1024
"""A longer answer is handed over as a file."""


class ReadingFault(Exception):
    """A defect of geocrawl that raised an exception in a reading process; the message is its traceback there."""


class ReadingProcesses:
    """`ports.ReadingPool` for the loop of one run."""

    def __init__(self, *, processes: int, in_loop_bytes: int, limits: Limits) -> None:
        """`processes`: the most that run at once. `in_loop_bytes`: longer answers are read in a process."""
        self._processes = processes
        self._in_loop_bytes = in_loop_bytes
        self._limits = limits
        self._limiter: CapacityLimiter | None = None
        logging.getLogger("asyncio").addFilter(_is_worth_telling)
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="reading")
        """Threads for reading only: asyncio's default threads may all be waiting for name servers."""

    def takes(self, page: Page) -> bool:
        """Return whether an answer is long or of a sort that costs more than its length suggests."""
        return is_heavy(page, self._in_loop_bytes)

    async def run(self, page: Page, think: Callable[[], T]) -> T | Failure:
        """Return what `think` returns, in a process; a Failure when the process was ended. Raises ReadingFault."""
        if self._limiter is None:  # it belongs to the running loop
            from anyio import CapacityLimiter  # most crawls read no answer in a process

            self._limiter = CapacityLimiter(self._processes)
        async with self._limiter:
            found = await (self._found if len(page.body) <= _MOST_BYTES_IN_PIPE else self._found_by_file)(page, think)
        if isinstance(found, OutOfMemory):
            return _failure(
                page, FailureCode.READING_MEMORY, f"reading it needs more than {self._limits.memory_bytes:,} bytes"
            )
        if isinstance(found, Raised):
            raise ReadingFault(found.traceback)
        result: T = found
        return result

    async def _found_by_file(self, page: Page, think: Callable[[], Any]) -> Any:
        """Return what `_found` returns, of a long answer."""
        try:
            with TemporaryDirectory(prefix="geocrawl-reading-") as folder:
                return await self._found(page, think, Path(folder))
        except OSError:  # the disk is full: use memory instead
            return await self._found(page, think)

    async def _found(self, page: Page, think: Callable[[], Any], folder: Path | None = None) -> Any:
        """Return the result from a process, `OutOfMemory`, `Raised` or a Failure. `folder`: for a long answer."""
        from anyio import BrokenWorkerProcess, to_process

        request = await self.in_thread(partial(_request, think, folder))
        begun = time.monotonic()
        try:
            packed = await to_process.run_sync(answer, request, self._limits, cancellable=True)
        except BrokenWorkerProcess:
            return self._ended(page, time.monotonic() - begun)
        unpacked = partial(_unpacked, packed)
        is_short = isinstance(packed, bytes) and len(packed) <= _MOST_BYTES_IN_LOOP
        return unpacked() if is_short else await self.in_thread(unpacked)

    async def in_thread(self, think: Callable[[], T]) -> T:
        """Return what `think` returns."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, think)

    def _ended(self, page: Page, seconds: float) -> Failure:
        """Return why a reading process ended. A timer ends it no sooner than its time is over by the clock."""
        limit_s = self._limits.cpu_s
        if seconds >= limit_s:
            told = f"reading it takes more than {limit_s:g} s of CPU time, or {WALL_FACTOR * limit_s:g} s in all"
            return _failure(page, FailureCode.READING_TIME, told)
        return _failure(page, FailureCode.READING_CRASH, f"the process that read it ended after {seconds:.1f} s")


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Return whether a message is not asyncio's warning that anyio was first to collect a process that had ended."""
    return "will report returncode 255" not in record.msg


def _request(think: Callable[[], Any], folder: Path | None) -> bytes | Path:
    """Return a function pickled, with the answer that it reads: as bytes, or as a file in `folder`.

    On its way through a pipe a request is in memory several times; a file is written and read piece by piece.
    """
    if folder is None:
        return pickle.dumps(think, pickle.HIGHEST_PROTOCOL)
    path = folder / "request"
    with path.open("wb") as file:
        pickle.dump(think, file, pickle.HIGHEST_PROTOCOL)
    return path


def _unpacked(packed: bytes | Path) -> Any:
    if isinstance(packed, bytes):
        return pickle.loads(packed)  # noqa: S301  # of a process of our own
    with packed.open("rb") as file:
        return pickle.load(file)  # noqa: S301  # of a process of our own


def _failure(page: Page, code: FailureCode, why: str) -> Failure:
    return Failure(page.url, code, f"{len(page.body):,} bytes came; {why}", page.elapsed_ms, status=page.status)
