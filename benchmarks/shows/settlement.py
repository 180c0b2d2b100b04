"""Measure a settlement by the number of its new links (`benchmarks.settlement`): calls, statements, milliseconds."""

from __future__ import annotations

import argparse
import json

from benchmarks import machine, settlement


def main(arguments: list[str]) -> None:
    """Measure, print, write e_settlement.json."""
    argparse.ArgumentParser(prog="python -m benchmarks.shows settlement", description=__doc__).parse_args(arguments)
    rows = settlement.main()
    print(json.dumps(rows, indent=1))
    print(machine.write("e_settlement", {"settlements": rows}))
