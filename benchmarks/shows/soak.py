"""A quarter of a year of the daemon, simulated: memory, database, and how long deaths, returns and births go unnoticed."""

from __future__ import annotations

from benchmarks import machine, soak


def main(arguments: list[str]) -> None:
    """Simulate (options as in `benchmarks.soak`), write d_soak.json."""
    print(machine.write("d_soak", soak.main(arguments)))
