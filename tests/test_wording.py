"""Counts in messages agree with their nouns."""

from __future__ import annotations

import pytest

from geocrawl.web.texts import Words
from geocrawl.wording import counted


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(0, "page", "0 pages"), (1, "address", "1 address"), (2, "address", "2 addresses"), (2000, "host", "2,000 hosts")],
)
def test_a_count_agrees_with_its_noun(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


def test_pages_say_counts_with_their_nouns_in_each_language() -> None:
    english, chinese = Words("en"), Words("zh")
    assert [english("found", n=count) for count in (1, 1200)] == ["1 service found", "1,200 services found"]
    assert [english.ago(0, passed) for passed in (86_400, 7_200)] == ["1 day ago", "2 hours ago"]
    assert [chinese("found", n=count) for count in (1, 1200)] == ["找到 1 个服务", "找到 1,200 个服务"]
