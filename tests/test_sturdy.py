"""Each test that docs/sturdy.md names exists, and each class of defects there has three at least."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.support.places import ROOT

DOCUMENT = ROOT / "docs" / "sturdy.md"
DEFECTS = 16
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the first words of each row of the table, and the tests that it names."""
    for line in DOCUMENT.read_text("utf-8").splitlines():
        cells = line.split(" | ")
        if len(cells) == 3 and "::" in cells[2]:
            yield cells[0].removeprefix("| "), _TEST.findall(cells[2])


def is_there(file: str, name: str) -> bool:
    """Return whether a file has a test of this name."""
    path = ROOT / file
    return path.is_file() and re.search(rf"^(?:async )?def {name}\(", path.read_text("utf-8"), re.MULTILINE) is not None


def test_every_test_that_the_inventory_names_exists() -> None:
    named = [each for _, tests in rows() for each in tests]
    assert [f"{file}::{name}" for file, name in named if not is_there(file, name)] == []
    assert DOCUMENT.read_text("utf-8").count("::test_") == len(named)


def test_every_defect_and_two_more_of_its_class_are_held() -> None:
    numbered = {title.partition(".")[0]: set(tests) for title, tests in rows() if title[0].isdigit()}
    assert list(numbered) == [str(number) for number in range(1, DEFECTS + 1)]
    assert [number for number, tests in numbered.items() if len(tests) < 3] == []


def test_a_test_that_is_gone_is_seen() -> None:
    assert is_there("tests/test_sturdy.py", "test_a_test_that_is_gone_is_seen")
    assert not is_there("tests/test_sturdy.py", "test_a_test_that_is_gone")
    assert not is_there("tests/test_gone.py", "test_a_test_that_is_gone_is_seen")
