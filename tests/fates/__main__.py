"""Run ninety days of a thousand services: `python -m tests.fates`, or fewer of both, with other seeds."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fates.fates import FATES, draw
from tests.fates.judge import Judge, judge_manners, judge_notices
from tests.fates.life import Life

SERVICES, DAYS, SEED = 1_000, 90, 7
_MOST_SHOWN = 20


def measure(services: int = SERVICES, days: int = DAYS, seed: int = SEED, log: Path | None = None) -> dict[str, Any]:
    """Return the figures of a run; "missed" says what the catalogue, the notices or the daemon did wrong. `log`: a file
    for what the daemon said and what was done to it."""
    folder = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="geocrawl-fates-", dir=folder) as made:
        life = Life(draw(services, days, random.Random(f"fates {seed}")), days, seed, Path(made))
        judge, begun = Judge(life), time.perf_counter()
        life.every_day = judge.look
        life.run()
        seconds = time.perf_counter() - begun  # the machine's: time is virtual no more
        notices, manners = judge_notices(life), judge_manners(life)
    if log is not None:
        log.write_text("\n".join(life.log))
    wrong = {"failure": life.failures, "false": judge.false, "manners": manners}
    wrong |= {f"{name} notice": notices[name] for name in ("missed", "false", "twice")}
    return {
        "services": len(life.services),
        "fates": len(FATES),
        "days": days,
        "seed": seed,
        "seconds": round(seconds, 1),
        "requests": len(life.requests),
        "done_to_the_daemon": dict(Counter(life.done)),
        "looks": judge.looks,
        "false_looks": len(judge.false),
        "notices": {name: len(each) if isinstance(each, list) else each for name, each in notices.items()},
        "asked_against_a_servers_word": len(manners),
        "by_day": judge.days,
        "missed": [f"{name}: {text}" for name, texts in wrong.items() for text in texts[:_MOST_SHOWN]],
    }


def main(arguments: Sequence[str]) -> int:
    """Print the figures; return 1 if anything was false, missed, sent twice or rude."""
    parser = argparse.ArgumentParser(prog="python -m tests.fates", description=__doc__)
    parser.add_argument("--services", type=int, default=SERVICES)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--log", type=Path, help="write what the daemon said, and what was done to it, into this file")
    found = measure(**vars(parser.parse_args(arguments)))
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return int(bool(found["missed"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
