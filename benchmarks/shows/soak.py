"""A quarter of a year of the daemon, simulated: memory, database, and how long what happens goes unnoticed."""

from __future__ import annotations

from benchmarks import machine, soak


def main(arguments: list[str]) -> None:
    """Simulate (options as in `benchmarks.soak`), write d_soak.json."""
    print(machine.write("d_soak", soak.main(arguments)))
