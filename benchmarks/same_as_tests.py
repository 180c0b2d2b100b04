"""Measure attacks, politeness, slow services, a quarter of a year of the daemon, a week of it under systemd (as root),
and kills at statements, at full size.

Tests run the same with fewer hosts, attacks, services, days and statements.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from tests.attacks import attacks, politeness
from tests.store.upkeep import statement_kills
from tests.support import slow_services, soak
from tests.support.postgres import running_server
from tests.systemd import week
from tests.systemd.container import CannotBootError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of those that have some."""
    parser.add_argument("--only", default="", help="attacks, statement_kills: those whose name holds this")
    parser.add_argument("--step", type=int, default=1, help="statement_kills: at each n-th [1]")
    parser.add_argument("--hosts", type=int, default=None, help="politeness: of each sort [12]")
    parser.add_argument("--days", type=int, default=90, help="soak [90]")
    parser.add_argument("--speed", type=float, default=week.SPEED, help="week: of its clocks [300]")
    parser.add_argument("--seed", type=int, default=11, help="soak [11]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of the measurement that `options.name` names."""
    found: dict[str, Any] = {
        "attacks": lambda: _attacks(options.only),
        "politeness": lambda: politeness.measure(options.hosts or 12, 25),
        "slow_services": lambda: _slow_services(50, 4),
        "soak": lambda: _soak(options.days, options.seed),
        "week": lambda: _week(options),
        "statement_kills": lambda: _statement_kills(options.only, options.step),
    }[options.name]()
    return found


def _attacks(only: str) -> dict[str, Any]:
    """Return what stopped each attack, its seconds, and its memory beside that of a small page."""
    rows = attacks.measure(only)
    return {"attacks": rows, "missed": [row["attack"] for row in rows if not row["held"]]}


def _statement_kills(only: str, step: int) -> dict[str, Any]:
    """Return at how many statements each command was killed, what its database was then, and what was lost."""
    rows, missed = [], list[str]()
    with running_server() as server, tempfile.TemporaryDirectory(prefix="geocrawl-kills-") as folder:
        for name, trial in statement_kills.trials(Path(folder), server).items():
            if only in name:
                found = statement_kills.killed_everywhere(trial, step=step)
                rows.append({"command": name, "statements": found.statements, "states": dict(found.states)})
                print(f"   {rows[-1]}", flush=True)
                missed += [f"{name}: {each}" for each in found.lost]
    return {"commands": rows, "missed": missed}


def _slow_services(services: int, slow: int) -> dict[str, Any]:
    """Return when the quick services of a host were proved, and all of them, where some take 20 s for an answer."""
    found = slow_services.measure(services, slow, 20.0)
    missed = ["services that are not proved"] * (found["quick_proved"] + found["slow_proved"] < services)
    missed += ["quick ones proved within 60 s"] * (found["quick_done_after_s"] > 60.0)
    return {**found, "missed": missed + ["all done within 240 s"] * (found["all_done_after_s"] > 240.0)}


def _week(options: argparse.Namespace) -> dict[str, Any]:
    """Return what became of the unit; why it was not measured, where nothing can be booted."""
    try:
        return week.measure(speed=options.speed)
    except CannotBootError as reason:
        return {"not_measured": str(reason)}


def _soak(days: int, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="geocrawl-soak-") as folder:
        return {"seed": seed, **soak.simulate(Path(folder), days=days, pages=4000, seed=seed, say=print)}
