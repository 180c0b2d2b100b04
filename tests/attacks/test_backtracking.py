"""No regular expression of ours takes more than about the square of a text's length, whatever the text."""

from __future__ import annotations

import importlib
import itertools
import multiprocessing
import pkgutil
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import TypeAlias

import pytest
from lxml import etree

import geocrawl
from geocrawl.page.html import refresh_target
from geocrawl.page.xml import read_search_description

LENGTH = 1_000
MOST_S = 0.06
"""CPU seconds of a search: ten times what takes the square of LENGTH, a third of what takes the cube."""
LIMIT_S = 3
"""CPU seconds for all texts of a pattern; one of them may never end."""
_MIGRATIONS = "geocrawl.store.database.schema.migrations"
Patterns: TypeAlias = dict[str, re.Pattern[str] | re.Pattern[bytes]]


def patterns() -> Patterns:
    """Return every pattern that stands in a module of geocrawl, by a name that it has there."""
    found: dict[re.Pattern[str] | re.Pattern[bytes], str] = {}
    for info in pkgutil.walk_packages(geocrawl.__path__, "geocrawl."):
        if info.name.startswith(_MIGRATIONS) or ".pycsw_side" in info.name or info.name.endswith(".__main__"):
            continue  # programs: what they import may be in another environment
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, re.Pattern):
                found[value] = f"{info.name}:{name}"
    return {name: pattern for pattern, name in found.items()}


def texts(pattern: str) -> Iterator[str]:
    """Yield long texts of one or two repeated characters of a pattern, behind nothing and behind its first word."""
    named = dict.fromkeys(character for character in pattern if not re.match(r"[\s\\()\[\]?*+|^$]", character))
    characters = ["a", " ", "0", *list(named)[:10]]
    word = re.search(r"\w{2,}", pattern)
    for pump in [*characters, *map("".join, itertools.permutations(characters[:6], 2))]:
        for start in {"", word[0] if word else ""}:
            yield start + (pump * LENGTH)[:LENGTH] + "\x00!"


def try_all(found: Patterns, limit_s: float, told: Connection) -> None:
    """Search each pattern's texts and tell before each pattern which it is; end at the first slow search."""
    for name, pattern in found.items():
        told.send(name)
        signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)  # its signal ends the process in the midst of a search
        is_of_bytes = isinstance(pattern.pattern, bytes)
        for text in texts(pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern):
            search = partial(pattern.search, text.encode("latin-1", "replace") if is_of_bytes else text)
            if cpu_s(search) > MOST_S and min(cpu_s(search) for _ in range(3)) > MOST_S:
                return
    told.send("all")


def cpu_s(search: Callable[[], object]) -> float:
    """Return the CPU seconds that a search takes."""
    begun = time.process_time()
    search()
    return time.process_time() - begun


def last_tried(found: Patterns, limit_s: float) -> str:
    """Return what a forked process told last: the name of the pattern at which it ended, or "all"."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=try_all, args=(found, limit_s, theirs))
    process.start()
    theirs.close()
    told = [""]
    with suppress(EOFError):
        while True:
            told.append(ours.recv())
    process.join()
    return told[-1]


@pytest.mark.parametrize("bad", [r"(a+)+$", r"(?:\w+\s?)*!", r"(a*)*b", r"wms\s*\s*\s*y"])
def test_catastrophes_are_seen(bad: str) -> None:
    assert last_tried({"bad": re.compile(bad)}, limit_s=1) == "bad"


@pytest.mark.long
def test_no_pattern_of_ours_is_worse_than_a_square() -> None:
    found = patterns()
    assert len(found) > 100
    assert last_tried(found, LIMIT_S) == "all"


def test_white_space_in_a_refresh_is_cut_before_patterns_see_it() -> None:
    """They take the square of it: a page of five million spaces would take a day."""
    assert refresh_target(f"0;{' ' * 5_000_000}url=/maps") == ""
    assert refresh_target(f"{' ' * 5_000_000}0; url=/maps") == "/maps"


def test_a_search_template_of_megabytes_is_no_address() -> None:
    root = etree.fromstring(
        f'<D><Url template="http://a.example/?{"a" * 5_000_000}"/><Url template="http://a/?b"/></D>'
    )
    assert len(list(read_search_description(root))) == 1
