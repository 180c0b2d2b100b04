"""The order of requests of every strategy and preset is the one that is written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import ledger, orders
from tests.support.samples import sampled


@pytest.mark.parametrize("name", sampled(orders.names(), *orders.often_run()))
def test_requests_come_in_the_order_that_is_written_down(name: str) -> None:
    ledger.demand(name, orders.text(name))


@pytest.mark.long
@pytest.mark.parametrize("name", orders.more_names())
def test_requests_to_other_made_webs_come_in_the_order_that_is_written_down(name: str) -> None:
    ledger.demand(name, orders.text(name))


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", orders.recorded_names())
def test_requests_to_a_recorded_world_come_in_the_order_that_is_written_down(name: str, shared: Path) -> None:
    ledger.demand(name, orders.text(name))


def test_every_strategy_and_preset_has_orders() -> None:
    written = {*ledger.names_under(["orders"]), *ledger.names_under(["recorded"])}
    assert written == {*orders.names(), *orders.more_names(), *orders.recorded_names()}
