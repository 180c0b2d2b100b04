"""Kept texts are short, and no change of what they leave out goes unnoticed."""

from __future__ import annotations

import re

import pytest

from tests.golden.layout import Layout

KEPT = Layout(lambda text: re.sub(r"\d+ ms", "<duration>", text))
WHOLE = Layout(lambda text: text, whole=True)
ROWS = [f"row {number}" for number in range(9)]


def test_of_a_list_some_items_are_kept_and_of_the_others_their_number_and_a_hash() -> None:
    *items, rest = KEPT.listed(ROWS, (0, 3, 4, 8))
    assert items == ["row 0", "row 3", "row 4", "row 8"] and re.fullmatch(r"… 5 more, [0-9a-f]{16}", rest)
    assert KEPT.listed(ROWS[:4]) == ROWS[:4] and WHOLE.listed(ROWS) == ROWS


def test_a_change_of_an_item_that_is_left_out_is_noticed() -> None:
    changed = [*ROWS[:8], "another row"]
    assert KEPT.listed(changed)[:4] == KEPT.listed(ROWS)[:4] and KEPT.listed(changed) != KEPT.listed(ROWS)
    assert KEPT.listed([*ROWS, "after 5 ms"]) == KEPT.listed([*ROWS, "after 17 ms"]), "what is volatile is no change"


@pytest.mark.parametrize("member", range(6))
def test_a_change_of_any_member_of_a_json_document_is_noticed(member: int) -> None:
    changed = [{"id": number, "title": "x" * 90 if number != member else "y"} for number in range(6)]
    assert KEPT.json({"features": changed}) != KEPT.json({"features": [{**row, "title": "x" * 90} for row in changed]})


def test_lists_of_elements_are_cut_at_any_depth_and_line_breaks_of_texts_stay() -> None:
    items = "".join(f"<li>{number}<ul>{'<li>inside</li>' * 5}</ul></li>" for number in range(5))
    text = f"<body><ul>{items}</ul><p>after</p><pre>one\n\ntwo</pre></body>"
    lines = KEPT.markup(text).split("\n")
    assert sum(line.startswith("… 1 more, ") for line in lines) == 5
    assert lines[-4:] == ["<p>after</p><pre>one", "", "two</pre>", "</body>"]
    assert WHOLE.markup(text).count("inside") == 25
