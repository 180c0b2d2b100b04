"""The fault table of PostgreSQL: what was done to workers, server and network, what settled work was lost, how soon
the crawl went on, and whether a host was asked by two at once."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks import machine
from tests.support.faults import postgres
from tests.support.faults.row import Row
from tests.support.faults.workers import undisturbed
from tests.support.postgres import running_server


def main(arguments: list[str]) -> None:
    """Cause all of them, write j_faults.json. SystemExit when settled work was lost, or a host asked by two at once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows pg_faults", description=__doc__)
    parser.add_argument(
        "--only", default="", help="names of functions of tests/support/faults/postgres.py; write nothing"
    )
    options = parser.parse_args(arguments)
    names = set(filter(None, options.only.split(",")))
    rows, failed = list[Row](), list[str]()
    with tempfile.TemporaryDirectory(prefix="geocrawl-faults-") as work, running_server(hasty=False) as server:
        calm = undisturbed(server, Path(work) / "calm")
        for cause in postgres.ROWS:
            if names and cause.__name__ not in names:
                continue
            try:
                rows.append(cause(server, Path(work) / cause.__name__, calm))
            except (SystemExit, AssertionError) as error:
                failed.append(f"{cause.__name__}: {error}")
                print(failed[-1], flush=True)
                continue
            print(json.dumps(rows[-1].figures(), ensure_ascii=False), flush=True)
    figures = {"services": len(calm), "faults": [row.figures() for row in rows], "not_survived": failed}
    if not names:
        print(machine.write("j_faults", figures))
    bad = [row.fault for row in rows if row.lost or row.more["most_requests_of_a_host_at_once"] > 1]
    bad += [row.fault for row in rows if row.more["catalogue"] == "differs"]
    if failed or bad:
        raise SystemExit("; ".join([*bad, *failed]))
