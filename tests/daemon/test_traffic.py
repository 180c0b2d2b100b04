"""A day's traffic: counted over restarts, left to probes near its end, and then nobody is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.daemon.budget import Budget, Hours
from geocrawl.demo.web import DemoWeb
from geocrawl.store.database.database import Database
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from geocrawl.wording import day_of
from tests.daemon.test_daemon import VALID, ask, command, configured, daemon, wait_for
from tests.support.world import ManualClock

SERVICE = "http://gis.uni-norvale.example/glacier/wms?SERVICE=WMS&REQUEST=GetCapabilities"
BYTES = "SELECT sum(value) FROM daily WHERE name = 'bytes'"
RESTS = "no requests until midnight"


@pytest.fixture
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def received(tmp_path: Path, count: int) -> None:
    """Write down that so much came today."""
    database = Database.open(tmp_path / "c.db", create=False, clock=ManualClock())
    DaemonLock(database).count(day_of(time.time()), {"bytes": count})
    database.close()


def test_when_a_days_traffic_is_spent_nobody_is_asked_not_even_after_a_restart(tmp_path: Path, web: DemoWeb) -> None:
    command(tmp_path, "seeds", "add", *web.seeds, SERVICE)
    configured(tmp_path, 'traffic_per_day = "60k"\n')
    received(tmp_path, 59_900)  # pages alone might stop within the last tenth, and no probe be left to spend it
    with daemon(tmp_path, web) as running:
        wait_for(lambda: RESTS in running.log(), "the rest")
        time.sleep(1)  # what is under way is read to its end
        asked = len(web.requests)
        assert asked, "it asked until then"
        time.sleep(1)
        assert len(web.requests) == asked
        assert running.end() == 0
    assert RESTS in command(tmp_path, "status")
    counted = int(str(ask(tmp_path, BYTES)))
    assert 60_000 <= counted < 200_000, "what was under way was read to its end"
    with daemon(tmp_path, web) as again:
        wait_for(lambda: RESTS in again.log(), "the rest of the second one")
        assert again.end() == 0
    assert len(web.requests) == asked and ask(tmp_path, BYTES) == counted
    status = json.loads(command(tmp_path, "status", "--json"))
    assert (status["today"]["bytes"], status["traffic_per_day_bytes"]) == (counted, 60_000)
    metrics = command(tmp_path, "metrics").splitlines()
    assert f'geocrawl_today{{what="bytes"}} {counted}' in metrics and "geocrawl_traffic_limit_bytes 60000" in metrics


def test_the_last_tenth_of_a_days_traffic_is_for_probes(tmp_path: Path, web: DemoWeb) -> None:
    command(tmp_path, "seeds", "add", *web.seeds, SERVICE)
    configured(tmp_path, 'traffic_per_day = "10MiB"\n')
    received(tmp_path, 95 * 2**20 // 10)
    with daemon(tmp_path, web) as running:
        wait_for(lambda: ask(tmp_path, VALID), "the service")
        wait_for(lambda: "probes only" in command(tmp_path, "status"), "a word in status")
        assert running.end() == 0
    assert not [request.url for request in web.requests if request.kind == "page"]


NIGHT, NOON = 1_700_000_000.0 - 1_700_000_000.0 % 86_400, 1_700_000_000.0 - 1_700_000_000.0 % 86_400 + 43_200.0


@pytest.mark.parametrize(
    ("at", "pages", "bytes_", "why"),
    [
        (NOON, 0, 0, "outside its hours"),
        (NIGHT, 9, 899, ""),
        (NIGHT, 10, 0, "the day's limit of pages is reached"),
        (NIGHT, 0, 900, "nine tenths of the day's traffic is spent"),
    ],
)
def test_the_budget_says_why_no_page_may_be_visited(at: float, pages: int, bytes_: int, why: str) -> None:
    assert Budget(Hours(22 * 60, 6 * 60), 10, 1000).why_no_pages(at, pages, bytes_) == why


def test_no_limit_is_never_reached() -> None:
    assert Budget(Hours(), 0).why_no_pages(NOON, 10**9, 10**15) == "" and not Budget(Hours(), 0).is_traffic_spent(
        10**15
    )
