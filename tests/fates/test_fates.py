"""What the catalogue says of services of all fates is true, day by day, whatever happens to the daemon meanwhile."""

from __future__ import annotations

import json
import random
import threading
from datetime import datetime
from pathlib import Path

import pytest

from geocrawl.daemon.service import Tick
from geocrawl.model.health import DAY_S, HOUR_S
from tests.fates import month
from tests.fates.__main__ import measure
from tests.fates.fates import BEHAVIOURS, FATES, MadeService, Truth, draw
from tests.fates.judge import judge_manners
from tests.fates.life import TICKS, Life
from tests.simulation.scheduler import START


@pytest.mark.timeout(600)
def test_twelve_days_of_all_fates_are_told_as_they_were() -> None:
    found = measure(services=len(FATES), days=12, seed=1)
    assert found["missed"] == []
    assert found["looks"] > 500 and found["notices"]["sent"] > 20, "so much was looked at"


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_ninety_days_of_all_fates_are_told_as_they_were() -> None:
    assert measure(services=len(FATES), days=90, seed=3)["missed"] == []


@pytest.mark.parametrize("behaviour", ["503 for an hour", "429", "everything 429"])
def test_a_platform_that_asks_for_patience_is_never_asked_too_early(tmp_path: Path, behaviour: str) -> None:
    services = [MadeService(number, behaviour, f"s{number}.example", number) for number in range(12)]
    for each in services:
        each.phases = [(-1.0, behaviour if each.number % 2 else "well"), (0.5, behaviour)]
    life = Life(services, 3, 1, tmp_path)
    life.run()
    assert life.failures == [] and judge_manners(life) == []
    asked = [request for request in life.requests if request.retry_after_s]
    assert {request.host for request in asked} == {each.host for each in services}, "each asked for patience"


def test_a_service_watched_in_minutes_is_told_dead_within_the_hour_whatever_its_host_answers(tmp_path: Path) -> None:
    fates = {
        "everything 500": [(0.5, "everything 500")],
        "everything 503": [(0.5, "everything 503")],
        "reset": [(0.5, "reset")],
        "robots.txt 503": [(0.5, "robots.txt 503")],
        "gone for six minutes": [(0.5, "refused"), (0.5 + 6 / 1_440, "well")],
        "challenge": [(0.5, "challenge")],
        "well": [],
    }
    services = [MadeService(number, name, f"s{number}.example", number) for number, name in enumerate(fates)]
    for each in services:
        each.phases = [(-1.0, "well"), *fates[each.fate]]
    ticks = [
        Tick(each.name, 300.0, at_once=True) if each.name in ("reprobe", "crawl", "watches") else each for each in TICKS
    ]
    life = Life(services, 1, 1, tmp_path, ticks, watched_from=0.2, every_s=600.0)
    life.run()
    told = {
        life.services[int(path.name)].fate: [
            (notice["what"], datetime.fromisoformat(notice["at"]).timestamp() - START)
            for line in path.read_text().splitlines()
            for notice in json.loads(line)["notices"]
        ]
        for path in life.notices.iterdir()
    }
    assert life.failures == [] and set(told) == {"everything 500", "everything 503", "reset"}
    for fate, notices in told.items():
        assert [what for what, _ in notices] == ["died"], fate
        assert DAY_S / 2 < notices[0][1] < DAY_S / 2 + HOUR_S, fate


def test_what_is_watched_is_told_within_three_intervals_and_nothing_else_is() -> None:
    found = month.measure(services=20, days=4, faults=10, every_s=2 * HOUR_S)
    assert found["missed"] == found["false"] == found["failures"] == []
    assert found["watched"] == 20 and sum(bool(each["told"]) for each in found["faults"]) == 6


def test_the_fates_are_of_all_kinds() -> None:
    drawn = draw(len(FATES), 90, random.Random(1))
    assert {BEHAVIOURS[name].truth for service in drawn for _, name in service.phases} == set(Truth)


def test_a_life_depends_on_its_seed_alone(tmp_path: Path) -> None:
    asked, threads = list[list[tuple[float, str, int]]](), set[str]()
    for name in ("one", "again"):
        (tmp_path / name).mkdir()
        life = Life(draw(20, 6, random.Random(1)), 6, 1, tmp_path / name)
        life.every_day = lambda: threads.update(thread.name for thread in threading.enumerate())
        life.run()
        asked.append([(request.at, request.host, request.status) for request in life.requests])
    assert asked[0] == asked[1] != []
    assert "heartbeat" not in threads, "it would beat in the machine's time"
