"""Do to processes and to the database what a scenario says, when its time or step has come."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from sqlalchemy import UpdateBase

from geocrawl.errors import PassingFault, UnreachableServer
from geocrawl.store.database.connection import Statement
from tests.simulation.processes import Process, ProcessKilledError
from tests.simulation.scenario import Fault

if TYPE_CHECKING:
    from tests.simulation.run import Run

_WRITES = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|COMMIT|WITH)")
_LOCKED_S, _HASTE_S = 5.0, 0.1
"""How long a process waits for a lock, at first and as long as it was in vain."""


class ProcessInterruptions:
    """`database.Interruptions` of one process."""

    def __init__(self, run: Run, process: Process, kill_at: int) -> None:
        """`kill_at`: number of the statement before which the process is killed; 0: none."""
        self._run = run
        self._process = process
        self._kill_at = kill_at
        self._rng = random.Random(f"{run.scenario.seed} {process.name}")
        self._has_waited = False

    def at_opening(self) -> None:
        """Raise UnreachableServer while the database is away."""
        if self._run.database_fault() == "away":
            raise UnreachableServer("the database: cannot be reached (simulated)")

    def at_statement(self, statement: Statement) -> None:
        """Kill the process, or raise PassingFault, if it is time to."""
        self.while_alive()
        self._process.statements += 1
        if self._process.statements == self._kill_at:
            name = statement if isinstance(statement, str) else type(statement).__name__
            self._run.kill(self._process, f"before {' '.join(name.split())[:40]}")
            self.while_alive()
        if statement == "ROLLBACK":
            return
        fault = self._run.database_fault()
        if fault == "busy" and statement == "BEGIN":
            self._run.stall(_HASTE_S if self._has_waited else _LOCKED_S)
            self._has_waited = True
            raise PassingFault("the database: locked (simulated)")
        if fault == "full" and _writes(statement) and self._rng.random() < 0.5:
            raise PassingFault("the database: the disk is full (simulated)")
        if fault == "away":
            self._run.lose_connection(self._process, commits=statement == "COMMIT" and self._rng.random() < 0.5)
            raise PassingFault("the database: the connection was lost (simulated)")
        self._has_waited = False

    def while_alive(self) -> None:
        """Raise ProcessKilledError in a process that was killed."""
        if not self._process.alive:
            raise ProcessKilledError


def _writes(statement: Statement) -> bool:
    if isinstance(statement, str):
        return _WRITES.match(statement) is not None
    return isinstance(statement, UpdateBase)


def kill_at(faults: list[Fault], crawler: int) -> int:
    """Take the next kill at a statement of a crawler off the list; 0 for none."""
    for fault in faults:
        if fault.kind == "kill-statement" and fault.crawler == crawler:
            faults.remove(fault)
            return int(fault.at)
    return 0
