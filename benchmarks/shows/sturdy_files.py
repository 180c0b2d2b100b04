"""Try every command that writes files at every place that it must not harm, while a crawl and a daemon work."""

from __future__ import annotations

import argparse
import importlib
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from benchmarks import machine
from tests.support.trials import Scene, Trial, scene
from tests.support.writers import WRITERS, Writer

SLOW_AT = ("an ordinary file", "the catalogue", "a symbolic link", "a full disk")
"""Where commands are tried that take seconds: they write by the functions of the others."""


def main(arguments: list[str]) -> None:
    """Try, print, write f_files.json; SystemExit when anything was lost, left over or said unclearly."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows sturdy_files", description=__doc__)
    parser.add_argument("--command", action="append", help="only this one (may be repeated)")
    options = parser.parse_args(arguments)
    writers = [each for each in WRITERS if not options.command or each.command in options.command]
    with suppress(ImportError):
        importlib.import_module("matplotlib.pyplot")  # once here, not in each process that is forked
    with scene() as tried:
        before = tried.counts()
        with tried.busy() as others:
            trials = [trial for writer in writers for trial in _attempts(tried, writer)]
            ended = sum(each.poll() is not None for each in others)
        after = tried.counts()
        intact = tried.is_intact()
    bad = [asdict(each) for each in trials if each.problems]
    figures: dict[str, Any] = {
        "trials": len(trials),
        "commands": len({each.command for each in trials}),
        "places": dict(Counter(each.place for each in trials)),
        "exit_codes": dict(sorted(Counter(each.exit_code for each in trials).items())),
        "rows_before": before,
        "rows_after": after,
        "integrity_check": "ok" if intact else "damaged",
        "crawl_or_daemon_ended": ended,
        "lost_or_unclear": bad,
        "said": {f"{each.command}: {each.place}": [each.exit_code, each.said] for each in trials if each.exit_code},
    }
    if not options.command:
        print(machine.write("f_files", figures))
    lines = [f"{each['command']}: {each['place']}: {', '.join(each['problems'])}" for each in bad]
    if lines or ended or not intact:
        raise SystemExit("\n".join([*lines, f"{ended} of a crawl and a daemon ended, the catalogue is {intact=}"]))


def _attempts(tried: Scene, writer: Writer) -> list[Trial]:
    places = [each for each in tried.places if not writer.is_slow or each in SLOW_AT]
    trials = [tried.attempt(writer, place) for place in places]
    refused = sum(each.exit_code != 0 for each in trials)
    print(f"   {writer.name:24} {len(trials):>3} places, {refused:>3} refused or failed", flush=True)
    return trials
