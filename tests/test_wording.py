"""Counts in messages agree with their nouns."""

from __future__ import annotations

import pytest

from geocrawl.wording import counted


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(0, "page", "0 pages"), (1, "address", "1 address"), (2, "address", "2 addresses"), (2000, "host", "2,000 hosts")],
)
def test_a_count_agrees_with_its_noun(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text
