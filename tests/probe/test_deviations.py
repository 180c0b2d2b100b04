"""docs/deviations.md is the catalogue of codes: each that is in the source stands there, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import geocrawl

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "deviations.md").read_text("utf-8").partition("# Reasons")[0]
FILES = sorted(
    file for room in ("fetch", "formats", "probe") for file in (Path(geocrawl.__file__).parent / room).rglob("*.py")
)
SOURCE = "".join(file.read_text("utf-8") for file in FILES)
CORPUS_FILE = re.compile(r"`([a-z]+/[\w.-]+\.(?:xml|json))`")


def rows() -> dict[str, list[str]]:
    """Cells of each code's row: code, meaning, standard, example, what is done."""
    lines = (re.split(r" \| ", line.strip("| ")) for line in PAGE.splitlines() if line.startswith("| `"))
    return {cells[0].strip("`"): cells for cells in lines}


def used() -> set[str]:
    """Codes that are written where a deviation is made, and those of libxml2's faults and of boxes."""
    made = re.findall(r'Deviation\(\s*"([a-z-]+)"|"(box-[a-z-]+)"|"(?:NS_)?ERR_[A-Z_]+": "([a-z-]+)"', SOURCE)
    return {code for groups in made for code in groups if code}


def test_every_code_in_the_source_stands_on_the_page() -> None:
    assert {"truncated-tail", "box-zeros", "bare-ampersand", "junk-after", "over-limit"} <= used()
    assert used() - set(rows()) == set()


def test_every_code_on_the_page_is_in_the_source() -> None:
    assert [code for code in rows() if f'"{code}"' not in SOURCE] == []


def test_every_code_has_a_meaning_a_standard_an_example_and_a_treatment() -> None:
    assert {
        code: len(cells) for code, cells in rows().items() if len(cells) != 5 or not all(map(str.strip, cells))
    } == {}


@pytest.mark.shared
def test_every_example_is_a_recorded_answer(shared: Path) -> None:
    named = CORPUS_FILE.findall(PAGE)
    assert len(named) > 15
    assert [name for name in named if not (shared / "corpus" / "documents" / name).is_file()] == []
