"""No regular expression of ours takes more than the square of a text's length, whatever the text: steps are counted."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys

import pytest
from lxml import etree

import geocrawl
from geocrawl.page.html import refresh_target
from geocrawl.page.xml import read_search_description

from .backtracking import Counter, TooManySteps, pumps

SHORT, LONG = 24, 48
LIMIT = 400_000
SQUARE = 4.6
"""Steps may grow so much when a text grows twofold: four times and what is constant; cubes grow eightfold."""
_MIGRATIONS = "geocrawl.store.schema.migrations"


def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern that stands in a module of geocrawl, by its name there; those over bytes as text."""
    found = {}
    for info in pkgutil.walk_packages(geocrawl.__path__, "geocrawl."):
        if info.name.startswith(_MIGRATIONS) or info.name.endswith(".__main__"):
            continue  # programs: what they import may be in another environment
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and len(value.pattern) < 4000:
                text = value.pattern.decode("latin-1") if isinstance(value.pattern, bytes) else value.pattern
                flags = value.flags & (re.IGNORECASE | re.DOTALL | re.VERBOSE | re.MULTILINE)
                found[f"{info.name}:{name}"] = re.compile(text, flags)
    return found


def worst(pattern: re.Pattern[str]) -> tuple[float, str]:
    """(growth of the steps when the text grows twofold, the text that makes it so); infinite when they exceed all."""
    most = (0.0, "")
    for pump in pumps(pattern):
        steps = []
        for size in (SHORT, LONG):
            counter = Counter(pattern, LIMIT)
            try:
                counter.search((pump * size)[:size] + "\x00!")
            except TooManySteps:
                return float("inf"), pump
            steps.append(counter.steps)
        if steps[1] > 2000:
            most = max(most, (steps[1] / steps[0], pump))
    return most


@pytest.mark.parametrize("bad", [r"(a+)+$", r"(a|a)*b", r"(?:\w+\s?)*!", r"(a*)*b"])
def test_the_counter_sees_catastrophes(bad: str) -> None:
    assert worst(re.compile(bad))[0] > SQUARE


@pytest.mark.parametrize(("good", "text"), [(r"a+b", "aaab"), (r"(?:x|y)+?z", "xyxz"), (r"[^c]{2}(?=d)\w", "abd")])
def test_the_counter_matches_as_re_does(good: str, text: str) -> None:
    assert Counter(re.compile(good), LIMIT).search(text) is (re.search(good, text) is not None)
    assert Counter(re.compile(good), LIMIT).search(text[::-1]) is (re.search(good, text[::-1]) is not None)


def test_no_pattern_of_ours_is_worse_than_a_square() -> None:
    sys.setrecursionlimit(20_000)
    found = patterns()
    assert len(found) > 100
    names = {pattern: name for name, pattern in found.items()}  # a pattern that two modules know is tried once
    bad = {name: growth for pattern, name in names.items() if (growth := worst(pattern))[0] > SQUARE}
    assert bad == {}


def test_white_space_in_a_refresh_is_cut_before_patterns_see_it() -> None:
    """They take the square of it: a page of five million spaces would take a day."""
    assert refresh_target(f"0;{' ' * 5_000_000}url=/maps") == ""
    assert refresh_target(f"{' ' * 5_000_000}0; url=/maps") == "/maps"


def test_a_search_template_of_megabytes_is_no_address() -> None:
    root = etree.fromstring(
        f'<D><Url template="http://a.example/?{"a" * 5_000_000}"/><Url template="http://a/?b"/></D>'
    )
    assert len(list(read_search_description(root))) == 1
