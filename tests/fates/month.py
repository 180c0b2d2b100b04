"""Watch services through a month with planned faults, in virtual time: `python -m tests.fates.month`.

The daemon, its schedule, store and notices are the real ones. Each fault is to be told within three intervals of its
beginning, and what is no fault of a service is not told at all.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from geocrawl.daemon.service import Tick
from geocrawl.model.health import DAY_S
from geocrawl.store.upkeep.downtimes import Downtimes
from tests.fates.fates import MadeService
from tests.fates.life import SETTINGS, TICKS, Life
from tests.simulation.scheduler import START

SERVICES, DAYS, FAULTS, EVERY_S, SEED = 300, 30, 40, 6 * 3600.0, 1
_DEATHS = ("refused", "404", "500", "hangs", "name gone", "exception", "everything 500", "parked")
_BLOCKED = ("challenge", "block page")
_INTERVALS = 3


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one service, and what its watcher is to be told."""

    kind: str
    """death, slow, planned, blocked or moved."""
    number: int
    since: float
    """Day."""
    until: float
    told: tuple[str, ...]
    """Notices in order: of the beginning, and of the end."""


def plan(services: int, days: float, faults: int, every_s: float, seed: int) -> tuple[list[MadeService], list[Fault]]:
    """Return services, and the faults of some of them: kinds in turn."""
    lot = random.Random(f"month {seed}")
    made = [MadeService(number, "well", f"s{number}.example", number) for number in range(services)]
    numbers, found = lot.sample(range(services), faults), list[Fault]()
    interval = every_s / DAY_S
    kinds = ("death", "slow", "planned", "blocked", "moved")
    for place, number in enumerate(numbers):
        kind = kinds[place % len(kinds)]
        since = lot.uniform(0.4 * days, 0.6 * days)
        until = since + max(12 * interval, lot.uniform(0.05, 0.2) * days)
        behaviour, told = {
            "death": (_DEATHS[place // len(kinds) % len(_DEATHS)], ("died", "returned")),
            "slow": ("slow", ("slow", "usual-speed")),
            "planned": ("503", ()),
            "blocked": (_BLOCKED[place // len(kinds) % 2], ()),
            "moved": ("301", ("moved",)),
        }[kind]
        made[number].fate = f"{kind}: {behaviour}"
        made[number].phases = [(-1.0, "well"), (since, behaviour)]
        if kind == "moved":
            until = float(days)
        else:
            made[number].phases.append((until, "well"))
        found.append(Fault(kind, number, since, until, told))
    for each in made:
        each.phases = each.phases or [(-1.0, "well")]
    return made, found


class Month(Life):
    """A daemon whose troubles are those of the services and of the network on the way alone."""

    faults: Sequence[Fault] = ()
    settings = replace(SETTINGS, maps=True)

    def _troubles(self) -> Iterator[tuple[float, Callable[[], Awaitable[None]]]]:
        yield 0.7 * self.days, self._way_answers
        for each in self.faults:
            if each.kind == "planned":
                yield each.since - 0.001, self._planned(each)

    def _planned(self, fault: Fault) -> Callable[[], Awaitable[None]]:
        async def do() -> None:
            with self.operator() as store:
                found = self.endpoint(store, self.services[fault.number].host)
                assert found is not None
                begun = START + fault.since * DAY_S - 60.0
                Downtimes(store.database).plan(
                    found[1], starts_at=begun, ends_at=START + fault.until * DAY_S + 60.0, at=self._now()
                )

        return do


def measure(
    services: int = SERVICES, days: int = DAYS, faults: int = FAULTS, every_s: float = EVERY_S, seed: int = SEED
) -> dict[str, Any]:
    """Return the figures of a month; "missed" and "false" say what was told wrongly."""
    made, planned = plan(services, days, faults, every_s, seed)
    tick_s = min(every_s / 10, 3600.0)
    often = ("reprobe", "crawl", "watches")
    ticks = [Tick(each.name, tick_s, at_once=True) if each.name in often else each for each in TICKS]
    with tempfile.TemporaryDirectory(prefix="geocrawl-month-") as folder:
        life = Month(made, days, seed, Path(folder), ticks, watched_from=0.05 * days, every_s=every_s)
        life.faults = planned
        begun = time.process_time()
        life.run()
        cpu_s = time.process_time() - begun
        told = _told(life)
        statement = "SELECT (SELECT count(*) FROM probe) + (SELECT coalesce(sum(probes), 0) FROM probe_sum)"
        probes = life.rows(statement)[0][0]
    rows, missed = list[dict[str, Any]](), list[str]()
    for fault in planned:
        got = told.pop(fault.number, [])
        late = [(at - due * DAY_S) / every_s for (_, at), due in zip(got, (fault.since, fault.until), strict=False)]
        is_right = tuple(what for what, _ in got) == fault.told and all(0 <= each <= _INTERVALS for each in late)
        row = {"kind": fault.kind, "fate": made[fault.number].fate, "intervals": [round(each, 2) for each in late]}
        rows.append({**row, "told": [what for what, _ in got]})
        if not is_right:
            missed.append(f"s{fault.number}: {rows[-1]}, due {fault.told}")
    false = [f"s{number} {made[number].fate}: {got}" for number, got in told.items() if got]
    return {
        "services": services,
        "days": days,
        "every_s": every_s,
        "requests": len(life.requests),
        "probes": probes,
        "pictures": life.web.pictures,
        "cpu_ms_a_probe": round(1000 * cpu_s / probes, 1),
        "watched": len(life.watched),
        "faults": rows,
        "missed": missed,
        "false": false,
        "failures": life.failures,
    }


def _told(life: Life) -> dict[int, list[tuple[str, float]]]:
    """Return what was told of each service: (what, second of the run)."""
    return {
        int(path.name): [
            (notice["what"], datetime.fromisoformat(notice["at"]).timestamp() - START)
            for line in path.read_text().splitlines()
            for notice in json.loads(line)["notices"]
        ]
        for path in life.notices.iterdir()
    }


def main(arguments: Sequence[str]) -> int:
    """Print the figures; return 1 if anything was missed or false."""
    parser = argparse.ArgumentParser(prog="python -m tests.fates.month", description=__doc__)
    parser.add_argument("--services", type=int, default=SERVICES)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--faults", type=int, default=FAULTS)
    parser.add_argument("--every-s", type=float, default=EVERY_S)
    parser.add_argument("--seed", type=int, default=SEED)
    found = measure(**vars(parser.parse_args(arguments)))
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return int(bool(found["missed"] or found["false"] or found["failures"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
