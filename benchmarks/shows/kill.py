"""kill -9 at random moments: a crawl that is killed and resumed ends with the catalogue of an undisturbed one."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks import machine
from tests.support import kills, world_crawls


def main(arguments: list[str]) -> None:
    """Crawl once undisturbed, once killed; compare. SystemExit when the catalogues differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows kill", description=__doc__)
    parser.add_argument("--world", choices=world_crawls.NAMES, default="mixed")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2015, help="of the random moments")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-kill-") as work:
        figures = kills.measure(world_crawls.folder(options.world), options.kills, options.seed, Path(work))
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if not options.no_write:
        print(machine.write("a_kill", figures))
    if figures["only_undisturbed"] or figures["only_killed"] or figures["integrity_check"] != "ok":
        raise SystemExit("the killed crawl's catalogue differs from the undisturbed one's")
