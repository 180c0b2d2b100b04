"""Strangers' text is made harmless in one place."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.sanitize import plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Roads of Norvale", "Roads of Norvale"),
        ("  Roads\n\tof   Norvale ", "Roads of Norvale"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;new window title\x07Roads", "Roads"),
        ("\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x9b2Jgone", "gone"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("\ufeff青山省\u3000地图服务\u2028图层", "青山省 地图服务 图层"),
        ("half \ud83d", "half \ufffd"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_could_act_on_a_terminal_is_removed_and_the_words_stay(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert plain("abcdef", 4) == "abc…"
    assert plain("abcd", 4) == "abcd"
    assert plain("abcd", 0) == "…"


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_any_text_becomes_one_bounded_line_without_controls(text: str, limit: int) -> None:
    out = plain(text, limit)
    assert len(out) <= limit
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in out)
    assert not any(unicodedata.bidirectional(character) in ("RLO", "LRO", "RLE", "LRE", "PDF") for character in out)


@given(st.text())
def test_making_plain_twice_changes_nothing(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_a_string_sequence_that_never_ends_does_not_swallow_the_text() -> None:
    assert plain("\x1b]Roads of Norvale") == "Roads of Norvale"
