"""Run one program and read its CPU time, wall time and peak memory from the kernel's account of that process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Run:
    """A program that has ended."""

    exit_code: int
    """Negative: ended by that signal."""
    cpu_s: float
    """User and system time of the process and its threads (wait4), without other processes."""
    wall_s: float
    peak_mib: float
    """Peak memory, read at most some milliseconds before the process ended."""
    stdout: str
    stderr: str


class Started:
    """A program under way."""

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="geocrawl-run-"))
        self._begun = time.monotonic()
        self._peak_mib = 0.0
        with (self._folder / "out").open("wb") as out, (self._folder / "err").open("wb") as err:
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env and dict(env), cwd=cwd
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def running(self) -> bool:
        """Whether it has not ended yet (it stays to be waited for); its peak memory is read at each call."""
        self._peak_mib = max(self._peak_mib, _peak_mib(self._process.pid))
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def cpu_s(self) -> float:
        """User and system time so far; 0 when it has ended."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """SIGKILL: no handler runs, nothing is flushed. (Popen's own would reap a process that has ended.)"""
        os.kill(self._process.pid, signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM: the program may end in its own way."""
        os.kill(self._process.pid, signal.SIGTERM)

    def wait(self, *, limit_s: float | None = None) -> Run:
        """Its figures once it has ended; killed when it takes longer than `limit_s`."""
        while self.running():
            if limit_s is not None and time.monotonic() - self._begun > limit_s:
                self.kill()
            time.sleep(_POLL_S)
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        texts = [(self._folder / name).read_text("utf-8", "replace") for name in ("out", "err")]
        shutil.rmtree(self._folder, ignore_errors=True)
        return Run(
            exit_code=self._process.returncode,
            cpu_s=round(usage.ru_utime + usage.ru_stime, 3),
            wall_s=round(time.monotonic() - self._begun, 3),
            peak_mib=round(self._peak_mib, 1),
            stdout=texts[0],
            stderr=texts[1],
        )


def _peak_mib(pid: int) -> float:
    """The kernel's high-water mark, 0 when it has ended. That of wait4 would count the parent's memory at the fork."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    marks = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(marks[0].split()[1]) / 1024 if marks else 0.0


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, limit_s: float | None = None) -> Run:
    """Run to the end (or `limit_s`) and return the figures."""
    return Started(command, env=env).wait(limit_s=limit_s)


def checked(command: Sequence[str], *, env: Mapping[str, str] | None = None, accept: Sequence[int] = (0,)) -> Run:
    """`run`, raising SystemExit with the program's last lines for an exit code that is not accepted."""
    done = run(command, env=env)
    if done.exit_code not in accept:
        raise SystemExit(f"{' '.join(command[:6])} … ended with {done.exit_code}:\n{done.stderr[-2000:]}")
    return done


def geocrawl(*arguments: str) -> list[str]:
    """The command line of geocrawl in the running environment."""
    return [sys.executable, "-m", "geocrawl", *arguments]


def clean_environment(home: Path, **extra: str) -> dict[str, str]:
    """An environment without a user's settings: nothing of the machine's own configuration reaches a measurement."""
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "HOME": str(home), **extra}
