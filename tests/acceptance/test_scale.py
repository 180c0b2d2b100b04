"""Processes on one PostgreSQL crawl a web together (`scale_crawl`; the Show `scale` has the full size)."""

from __future__ import annotations

import pytest

from tests.support import scale_crawl
from tests.support.postgres import programs_or_skip
from tests.support.scale_web import Web


@pytest.mark.acceptance
def test_processes_share_a_web_without_asking_a_host_twice_at_once() -> None:
    programs_or_skip()
    web = Web(hosts=12, pages_a_host=8)
    found = scale_crawl.measure(scale_crawl.Plan(web, processes=2, visits=6, seconds=None, delay_s=0.1, warm_s=0.0))
    assert found["exit_codes"] == [0] and found["deadlocks"] == 0
    assert found["visited"] == web.hosts * web.pages_a_host + found["services"]
    assert found["fairness"] | {"jain": 1.0} == {"hosts": 12, "jain": 1.0, "least": 8, "median": 8, "most": 8}
    polite = found["politeness"]
    assert polite["requests"] > found["visited"], "robots.txt of each host, too"
    assert (polite["two_at_once"], polite["before_the_delay"], polite["pages_asked_twice"]) == (0, 0, 0)
