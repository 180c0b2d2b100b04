"""The queue as a table: the sub-queues and tiers with what each means, how many wait, what visits led to."""

from __future__ import annotations

import pytest

from geocrawl.crawler.report import queue_table
from geocrawl.model import FrontierStats, VisitYield

STATS = FrontierStats(
    states={},
    waiting_by_tier={7: 1_200, 5: 2, 0: 3},
    probes_waiting=0,
    hosts=1,
    hosts_resting=0,
    visits_by_tier={8: VisitYield(4, 1), 7: VisitYield(0, 0)},
    waiting_by_sub_queue={5: 1_200, 0: 3},
    visits_by_sub_queue={8: VisitYield(4, 1), 1: VisitYield(10, 0)},
)
NAMES = {8: "start pages", 7: "good links", 0: "the rest"}


def test_each_of_the_nine_sub_queues_is_a_row_in_the_order_of_equation_four() -> None:
    table = queue_table(STATS, NAMES, discards_zero=False)
    assert [row.head for row in table.sub_queues] == ["2.0", "1.7", "1.4", "1.3", "1.0", "0.7", "0.6", "0.3", "0.0"]
    told = table.as_json()["sub_queues"]
    assert told[3] == {"priority": 1.3, "link": 1, "page": 2, "waiting": 1_200, "visited": 0, "led": 0}
    assert (told[0]["visited"], told[0]["led"], table.sub_queues[0].share) == (4, 1, 0.25)


@pytest.mark.parametrize(("discards", "note"), [(True, "discarded"), (False, "last")])
def test_links_of_priority_zero_are_said_to_be_discarded_or_last(discards: bool, note: str) -> None:
    first, *_, last = queue_table(STATS, NAMES, discards_zero=discards).sub_queues
    assert first.means == "link 2, page 2; start pages"
    assert last.means == f"link 0, page 0; {note}"


def test_tiers_with_a_name_and_pages_or_visits_are_rows_the_first_served_first() -> None:
    tiers = queue_table(STATS, NAMES, discards_zero=False).tiers
    assert [(row.number, row.means, row.waiting, row.visited) for row in tiers] == [
        (8, "start pages", 0, 4),
        (7, "good links", 1_200, 0),
        (0, "the rest", 3, 0),
    ]


def test_columns_stand_below_their_names() -> None:
    head, first, *_, tiers, _, good, rest = queue_table(STATS, NAMES, discards_zero=False).lines()
    assert head == "priority  sub-queue by relevance       waiting  visited  led to services"
    assert first.endswith("1 (25%)") and first.index("1 (25%)") == head.index("led to services")
    assert good.index("1,200") + 5 == rest.index("3") + 1 == tiers.index("waiting") + len("waiting")


def test_a_row_of_a_long_queue_stands_in_one_line_of_80_characters() -> None:
    waits, visits = dict.fromkeys(range(10), 85_000), dict.fromkeys(range(10), VisitYield(4_000, 400))
    stats = FrontierStats({}, waits, 0, 1, 0, "", visits, waits, visits)
    names = {tier: f"a service expected in {n} visits" for tier, n in enumerate((100, 50, 20))}
    assert max(map(len, queue_table(stats, names, discards_zero=True).lines())) <= 76


def test_a_new_catalogue_has_no_rows() -> None:
    assert list(queue_table(FrontierStats({}, {}, 0, 0, 0), NAMES, discards_zero=False).lines()) == []
