"""The table of sub-queues: what each means, how many wait, what visits led to."""

from __future__ import annotations

from dataclasses import replace

from geocrawl.crawler.report import sub_queues, table_lines
from geocrawl.model import FrontierStats, VisitYield

STATS = FrontierStats(
    states={},
    waiting_by_tier={7: 1_200, 0: 3},
    probes_waiting=0,
    hosts=1,
    hosts_resting=0,
    visits_by_tier={8: VisitYield(4, 1), 7: VisitYield(0, 0), 1: VisitYield(10, 0)},
    visits_by_page_relevance={2: VisitYield(5, 1), 0: VisitYield(9, 0)},
    visits_by_link_relevance={0: VisitYield(14, 1)},
)
NAMES = {8: "start pages", 7: "good links", 0: "the rest"}


def test_each_sub_queue_with_pages_or_visits_is_a_row_the_first_served_first() -> None:
    rows = [row for row in sub_queues(STATS, NAMES) if row.tier is not None]
    assert [(row.tier, row.means, row.waiting, row.visited, row.share) for row in rows] == [
        (8, "start pages", 0, 4, 0.25),
        (7, "good links", 1_200, 0, None),
        (1, "", 0, 10, 0.0),
        (0, "the rest", 3, 0, None),
    ]


def test_levels_of_relevance_are_shown_where_some_page_or_link_was_relevant() -> None:
    levels = [
        (row.means.partition(":")[0], row.visited, row.led) for row in sub_queues(STATS, NAMES) if row.tier is None
    ]
    assert levels == [("page relevance 2", 5, 1), ("page relevance 0", 9, 0)]
    assert all(row.tier is not None for row in sub_queues(replace(STATS, visits_by_page_relevance={}), NAMES))


def test_columns_stand_below_their_names() -> None:
    head, first, second, *_ = table_lines(sub_queues(STATS, NAMES))
    assert head.split() == ["tier", "sub-queue", "waiting", "visited", "led", "to", "services"]
    assert first.endswith("1 (25%)") and first.index("1 (25%)") == head.index("led to services")
    assert second.index("1,200") + len("1,200") == head.index("waiting") + len("waiting")


def test_a_new_catalogue_has_no_rows() -> None:
    assert sub_queues(FrontierStats({}, {}, 0, 0, 0), NAMES) == []
