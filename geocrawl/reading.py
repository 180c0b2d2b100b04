"""Read large and odd answers in processes of their own, one answer at a time each (`ports.ReadingPool`).

No answer blocks the event loop: `is_heavy` decides which ones are handed over, `ReadingProcesses` does so and reports
those that could not be read, `answer` runs in such a process, and `InLoop` replaces them where every answer is read in
the event loop. The processes are anyio's: started when they are needed, kept for the next answer, replaced when one
ended, and ended with the event loop or with the task that waits for them.

docs/decisions/010 has the figures. An answer that is read in the event loop is so short that even a malicious one
costs about half a second. Short answers of two sorts may cost far more: gzip files, and images (4 million pixels of one
colour are 3 KB). No image is decoded in the event loop: a process of its own decodes them one after the other, for
a moment each, whatever other answers are read.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import resource
import signal
import time
import traceback
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from geocrawl.formats.raster import is_picture
from geocrawl.formats.text import GZIP_START
from geocrawl.model import DecodedImage, Failure, FailureCode, Page

if TYPE_CHECKING:
    from anyio import CapacityLimiter


# --------------------------------------------------------------------------- what runs in a reading process
# Run one function on one answer in a reading process, within limits that the kernel enforces.
#
# The kernel ends the process when a timer expires, whatever C code it is in, even if the crawl's own process is gone. A
# process whose crawl is gone ends by itself, because its standard input is closed.


WALL_FACTOR = 5.0
"""Factor from a reading's limit on CPU time to its limit by the clock, which a busy machine needs longer for."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The CPU time and the memory that the reading of one answer may use."""

    cpu_s: float
    memory_bytes: int
    """Limit for the whole process: heap and private mappings (RLIMIT_DATA)."""


PICTURE_LIMITS = ReadingLimits(cpu_s=10.0, memory_bytes=512 << 20)
"""Limits on decoding an image: one of the most pixels takes a second and 250 MiB."""
Decode: TypeAlias = Callable[[bytes], DecodedImage | str]
"""Decodes an image, or returns why it is not decoded."""


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """Replaces a result that would have needed too much memory."""


@dataclass(frozen=True, slots=True)
class Defect:
    """Replaces a result when the function raised an exception, which is a defect of geocrawl."""

    traceback: str


def answer(request: bytes | Path, limits: ReadingLimits) -> bytes | Path:
    """Run the pickled function of a request and return its pickled result, `OutOfMemory` or `Defect`.

    The result of a request in a file is a file next to it.
    """
    _prepare(limits)
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_s)
    signal.setitimer(signal.ITIMER_REAL, WALL_FACTOR * limits.cpu_s)
    try:
        return _result(request)
    except MemoryError:
        return pickle.dumps(OutOfMemory())
    except Exception:
        return pickle.dumps(Defect(traceback.format_exc()))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _prepare(limits: ReadingLimits) -> None:
    """Limit the memory, and ignore signals to the process group: the crawl handles them and ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with suppress(OSError):  # where memory ends, this process is the one to go
        Path("/proc/self/oom_score_adj").write_text("1000")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = limits.memory_bytes if hard == resource.RLIM_INFINITY else min(limits.memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _result(request: bytes | Path) -> bytes | Path:
    think: Callable[[], Any]
    if isinstance(request, bytes):
        think = pickle.loads(request)  # noqa: S301  # of our own process
        return pickle.dumps(think(), pickle.HIGHEST_PROTOCOL)
    with request.open("rb") as file:
        request.unlink()  # removed at once, so that no file stays when this process or the crawl is killed
        think = pickle.load(file)  # noqa: S301  # of our own process
    found, path = think(), request.with_name("result")
    try:
        with path.open("wb") as file:
            pickle.dump(found, file, pickle.HIGHEST_PROTOCOL)
    except OSError:  # the disk is full: use memory instead
        return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    return path


# --------------------------------------------------------------------------- the pool of processes


T = TypeVar("T")

_MOST_BYTES_IN_LOOP = 256 * 1024
"""A longer result is unpickled in a thread."""
_MOST_BYTES_IN_PIPE = 1024 * 1024
"""A longer answer is handed over as a file."""


class ReadingFault(Exception):
    """A defect of geocrawl that raised an exception in a reading process; the message is its traceback there."""


DEAR_S = 1.0
"""A host whose last answer was read for so long leaves one process to the others."""
_MOST_DEAR_HOSTS = 4096


class Shares:
    """Shares processes between hosts: each has one at most, and those whose answers are dear have all but one.

    First come, first served among those that may, so hosts with dear answers slow themselves and not the crawl.
    """

    def __init__(self, processes: int, now: Callable[[], float] = time.monotonic) -> None:
        """`now` returns seconds of a clock that never steps."""
        self._free = processes
        self._most_dear = max(processes - 1, 1)
        self._now = now
        self._at_work: dict[str, bool] = {}
        """Hosts that have a process, and whether they were dear when they took it."""
        self._dear: OrderedDict[str, None] = OrderedDict()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def share(self, host: str) -> AsyncIterator[None]:
        """Wait for a process, and have it in this context."""
        mine = (host, asyncio.get_running_loop().create_future())
        self._waiting.append(mine)
        self._admit()
        try:
            await mine[1]
        except asyncio.CancelledError:
            if mine in self._waiting:
                self._waiting.remove(mine)
            else:  # a process was given to a reading that was just cancelled
                self._put_back(host)
            raise
        begun = self._now()
        try:
            yield
        finally:
            self._dear.pop(host, None)
            if self._now() - begun >= DEAR_S:
                self._dear[host] = None
                if len(self._dear) > _MOST_DEAR_HOSTS:
                    self._dear.popitem(last=False)
            self._put_back(host)

    def _put_back(self, host: str) -> None:
        del self._at_work[host]
        self._free += 1
        self._admit()

    def _admit(self) -> None:
        for each in tuple(self._waiting):
            host, admitted = each
            if self._free > 0 and self._may_begin(host):
                self._waiting.remove(each)
                self._free -= 1
                self._at_work[host] = host in self._dear
                if not admitted.done():
                    admitted.set_result(None)

    def _may_begin(self, host: str) -> bool:
        has_share = host not in self._dear or sum(self._at_work.values()) < self._most_dear
        return has_share and host not in self._at_work


class ReadingProcesses:
    """`ports.ReadingPool` for the loop of one run."""

    def __init__(self, *, processes: int, in_loop_bytes: int, limits: ReadingLimits, decode: Decode) -> None:
        """`processes`: the most that read answers at once; 0: none does. `in_loop_bytes`: longer answers are read in a
        process. `decode` runs in a further process."""
        self._processes = processes
        self._decode = decode
        self._in_loop_bytes = in_loop_bytes
        self._limits = limits
        self._shares = Shares(max(processes, 1))
        self._decoding = Shares(1)
        self._limiter: CapacityLimiter | None = None
        logging.getLogger("asyncio").addFilter(_is_worth_telling)
        self._threads = ThreadPoolExecutor(max(processes, 1), thread_name_prefix="reading")
        """Threads for reading only: asyncio's default threads may all be waiting for name servers."""

    def takes(self, page: Page, *, suspect: bool = False) -> bool:
        """Return whether an answer is suspect, long, or of a sort that costs more than its length suggests."""
        return suspect or (self._processes > 0 and is_heavy(page, self._in_loop_bytes))

    async def run(self, page: Page, think: Callable[[], T]) -> T | Failure:
        """Return what `think` returns, in a process; a Failure when the process was ended. Raises ReadingFault."""
        return await self._run(page, think, self._shares, self._limits)

    async def with_picture(self, page: Page) -> Page:
        """Return an answer with the image in its body, decoded in a process; any other answer as it is."""
        if not is_picture(page.body):
            return page
        picture = await self._run(page, partial(self._decode, page.body), self._decoding, PICTURE_LIMITS)
        return replace(page, picture=picture.detail if isinstance(picture, Failure) else picture)

    async def _run(self, page: Page, think: Callable[[], T], shares: Shares, limits: ReadingLimits) -> T | Failure:
        """Return what `think` returns as soon as its host has a process, within limits."""
        async with shares.share(page.url.host):
            is_long = len(page.body) > _MOST_BYTES_IN_PIPE
            found = await (self._found_by_file if is_long else self._found)(page, think, limits)
        if isinstance(found, OutOfMemory):
            told = f"reading it needs more than {limits.memory_bytes:,} bytes"
            return _failure(page, FailureCode.READING_MEMORY, told)
        if isinstance(found, Defect):
            raise ReadingFault(found.traceback)
        result: T = found
        return result

    async def _found_by_file(self, page: Page, think: Callable[[], Any], limits: ReadingLimits) -> Any:
        """Return what `_found` returns, of a long answer."""
        try:
            with TemporaryDirectory(prefix="geocrawl-reading-") as folder:
                return await self._found(page, think, limits, Path(folder))
        except OSError:  # the disk is full: use memory instead
            return await self._found(page, think, limits)

    async def _found(
        self, page: Page, think: Callable[[], Any], limits: ReadingLimits, folder: Path | None = None
    ) -> Any:
        """Return the result from a process, `OutOfMemory`, `Defect` or a Failure. `folder`: for a long answer."""
        from anyio import BrokenWorkerProcess, CapacityLimiter, to_process  # most crawls read nothing in a process

        self._limiter = self._limiter or CapacityLimiter(max(self._processes, 1) + 1)  # it belongs to the running loop
        request = await self.in_thread(partial(_request, think, folder))
        begun = time.monotonic()
        try:
            packed = await to_process.run_sync(answer, request, limits, cancellable=True, limiter=self._limiter)
        except BrokenWorkerProcess:
            return _ended(page, time.monotonic() - begun, limits.cpu_s)
        unpacked = partial(_unpacked, packed)
        is_short = isinstance(packed, bytes) and len(packed) <= _MOST_BYTES_IN_LOOP
        return unpacked() if is_short else await self.in_thread(unpacked)

    async def in_thread(self, think: Callable[[], T]) -> T:
        """Return what `think` returns."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, think)


def _ended(page: Page, seconds: float, limit_s: float) -> Failure:
    """Return why a reading process ended. A timer ends it no sooner than its time is over by the clock."""
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


class InLoop:
    """`ports.ReadingPool` without processes, for recorded and made answers: only the readers' own limits apply."""

    def __init__(self, decode: Decode) -> None:
        """`decode` runs in the event loop, too."""
        self._decode = decode

    def takes(self, answer: Page, *, suspect: bool = False) -> bool:
        """Return False: every answer is read in the event loop."""
        return False

    async def run(self, answer: Page, think: Callable[[], T]) -> T | Failure:
        """Return what `think` returns."""
        return think()

    async def with_picture(self, answer: Page) -> Page:
        """Return an answer with the image in its body decoded; any other answer as it is."""
        return replace(answer, picture=self._decode(answer.body)) if is_picture(answer.body) else answer

    async def in_thread(self, think: Callable[[], T]) -> T:
        """Return what `think` returns."""
        return think()


MOST_IMAGE_BYTES = 1024 * 1024
"""A longer image is read in a process, though none is decoded by a reader."""


def is_heavy(page: Page, in_loop_bytes: int) -> bool:
    """Return whether an answer is longer than `in_loop_bytes`, or costs more than its length suggests."""
    body = page.body
    if is_picture(body):
        return len(body) > MOST_IMAGE_BYTES
    return len(body) > in_loop_bytes or body.startswith(GZIP_START)
