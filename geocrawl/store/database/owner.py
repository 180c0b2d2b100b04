"""Name the process that has a lease, a run or the daemon lock, and find out whether it still runs.

An owner is stored as text, `machine:pid` with three facts in between: `machine boot namespace started:pid`. A process
id means something only within one boot of one machine and one PID namespace (pid_namespaces(7)), and only together with
the start of the process, since the kernel gives numbers out again. Rows of former versions say `machine:pid` alone.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LEARNER = "strategy:learner"
"""Key of the owner of the learner's role (`store/frontier/learner.py`)."""
MEMBER = "member:"
"""Facts of this name, a run and an owner: since when the process takes part in the run, as JSON (`SharedRun`)."""
BEAT = "worker:"
"""Facts of this name and an owner: how many visits the process has settled, as JSON (`Frontier`)."""
_ENDED = -1
"""Start of a process that has ended, and whose parent has not noticed."""
_INITIAL_NAMESPACE = "4026531836"
"""The PID namespace outside all containers (PROC_PID_INIT_INO in Linux's include/linux/proc_ns.h)."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, named so that no other process has the same name, on any machine and at any time."""

    machine: str
    pid: int
    started: int = 0
    """Kernel ticks from boot to the start of the process (proc(5), stat, field 22); 0: not known."""
    boot: str = ""
    """The first eight digits of Linux's boot id; '' where there is none."""
    namespace: str = ""
    """Number of the PID namespace; '' where there is none."""

    @classmethod
    def read(cls, text: str) -> Owner:
        """Return the owner that `text` names; pid 0 for a text that names none."""
        facts, _, pid = text.rpartition(":")
        machine, *others = facts.split(" ")
        number = int(pid) if pid.isdecimal() else 0
        if len(others) != 3:
            return cls(facts, number)
        boot, namespace, started = others
        return cls(machine, number, int(started) if started.isdecimal() else 0, boot, namespace)

    @property
    def text(self) -> str:
        """Return the owner as it is stored, for `read`."""
        known = f" {self.boot} {self.namespace} {self.started}" if self.boot else ""
        return f"{self.machine}{known}:{self.pid}"

    @property
    def short(self) -> str:
        """Return `machine:pid`."""
        return f"{self.machine}:{self.pid}"

    def __str__(self) -> str:
        return f"process {self.pid} on {self.machine}" if self.machine else "another process"

    def is_running(self, here: Owner) -> bool | None:
        """Return whether the process runs; None when the process `here` cannot determine that.

        It cannot for another machine and for another PID namespace, whose numbers name other processes. A boot that is
        over ended its processes; that is only concluded outside containers, where a machine's name is its own.
        """
        if self.machine != here.machine or not self.pid:
            return None
        if self.boot and here.boot:
            if self.namespace != here.namespace:
                return None
            if self.boot != here.boot:
                return False if self.namespace == _INITIAL_NAMESPACE else None
        return _is_running(self.pid, self.started)


def this_process() -> Owner:
    """Return the owner that this process is."""
    pid = os.getpid()
    return Owner(socket.gethostname(), pid, started_ticks(pid) or 0, _boot(), _namespace())


def is_dead(owner: str, here: Owner) -> bool:
    """Return whether the owner of this text ran where the process `here` runs, and runs no more."""
    return Owner.read(owner).is_running(here) is False


def started_ticks(pid: int) -> int | None:
    """Return when a process started (`Owner.started`); None when that cannot be read, or there is no such process.

    One that has ended, and waits for its parent to notice, started at `_ENDED`.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return _ENDED if fields[0] in "ZX" else int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


def _is_running(pid: int, started: int) -> bool:
    ticks = started_ticks(pid)
    if ticks is not None:
        return ticks != _ENDED and started in (0, ticks)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's process is a running one, also where /proc hides it
        return True
    return True


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:8]
    except OSError:
        return ""


def _namespace() -> str:
    """Return the number in the target of the link /proc/self/ns/pid, `pid:[4026531836]`; '' without /proc."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        return ""
