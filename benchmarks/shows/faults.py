"""The fault table: what was done to a daemon, what settled work was lost, how soon it went on."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import machine
from tests.support.faults import network, storage
from tests.support.faults.row import Row


def main(arguments: list[str]) -> None:
    """Cause all of them, write d_faults.json. SystemExit when settled work was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the lock and of the short outages")
    parser.add_argument("--out", type=Path, default=machine.MEASUREMENTS, help="folder of d_faults.json")
    options = parser.parse_args(arguments)
    causes: list[Callable[[Path], list[Row]]] = [
        lambda folder: [storage.killed(folder, options.kills)],
        lambda folder: [storage.disk_full(folder)],
        lambda folder: [storage.file_too_long(folder)],
        lambda folder: [storage.locked(folder, options.seconds)],
        lambda folder: [storage.full_at_start(folder)],
        lambda folder: [storage.locked_at_start(folder, options.seconds)],
        lambda folder: [storage.damaged(folder)],
        lambda folder: [network.names_down(folder, options.seconds)],
        lambda folder: [network.network_away(folder, options.seconds)],
        lambda folder: [storage.two_at_once(folder, options.pairs)],
    ]
    rows, failed = list[Row](), list[str]()
    for number, cause in enumerate(causes):
        with tempfile.TemporaryDirectory(prefix="geocrawl-faults-") as work:
            try:
                found = cause(Path(work) / str(number))
            except SystemExit as error:  # what does not come back within its time: the others are told all the same
                failed.append(str(error))
                continue
        for row in found:
            print(json.dumps(row.figures(), ensure_ascii=False), flush=True)
        rows += found
    print(machine.write("d_faults", {"faults": [row.figures() for row in rows], "not_survived": failed}, options.out))
    if failed or any(row.lost for row in rows):
        raise SystemExit("; ".join(["settled work was lost" if not failed else "", *failed]))
