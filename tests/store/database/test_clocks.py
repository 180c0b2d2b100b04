"""Machines whose clocks differ share the clock of the database server: none takes the lease of another."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from geocrawl.app.crawl import claim
from geocrawl.app.session import MAINTENANCE
from geocrawl.app.wiring import make_session
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Rank
from geocrawl.settings import Settings
from geocrawl.store.store import Store
from tests.support.world import url

OFF_S = 400.0


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set this machine's wall clock to so many seconds ahead of the true time."""
    true = time.time

    def set_it(ahead_s: float) -> None:
        monkeypatch.setattr(time, "time", lambda: true() + ahead_s)

    return set_it


def test_a_machine_whose_clock_is_ahead_leaves_the_leases_of_others_alone(
    postgres_url: str, set_clock: Callable[[float], None]
) -> None:
    pages = [url(f"a.example/{number}") for number in range(2)]
    one = Store.open(postgres_url, clock=SystemClock())
    first = make_session(Settings(), one, one.clock, MAINTENANCE).frontier
    first.add_seeds(pages, Rank(9))
    assert first.lease() is not None
    set_clock(OFF_S)
    other = Store.open(postgres_url, clock=SystemClock())
    assert make_session(Settings(), other, other.clock, MAINTENANCE).frontier.lease() is None
    assert abs(other.clock.now() - one.connection.now()) < OFF_S / 2
    for each in (one, other):
        each.close()


@pytest.mark.parametrize("step_s", [-OFF_S, OFF_S])
def test_a_step_of_the_clock_changes_nothing_where_a_server_shows_the_time(
    postgres_url: str, set_clock: Callable[[float], None], step_s: float
) -> None:
    with Store.open(postgres_url, clock=SystemClock()) as store:
        set_clock(step_s)
        assert abs(store.clock.now() - store.connection.now()) < OFF_S / 2


@pytest.mark.parametrize(("ahead_s", "said"), [(OFF_S, "400 s ahead of"), (-OFF_S, "400 s behind"), (0.0, "")])
def test_a_crawl_says_that_the_clock_differs(
    postgres_url: str, set_clock: Callable[[float], None], ahead_s: float, said: str
) -> None:
    set_clock(ahead_s)
    with Store.open(postgres_url, clock=SystemClock()) as store:
        notes = claim(make_session(Settings(), store, store.clock))
    assert [said in note for note in notes if "clock" in note] == [True] * bool(said)


def test_a_file_goes_by_this_machines_clock(tmp_path: object, set_clock: Callable[[float], None]) -> None:
    with Store.open(f"sqlite:///{tmp_path}/c.db", clock=SystemClock()) as store:
        set_clock(OFF_S)
        assert store.clock.now() - store.connection.now() == pytest.approx(0.0, abs=1.0)
