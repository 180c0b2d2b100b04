"""LinkValues of a page and its links as a packed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import UsageError
from geocrawl.priority.codec import pack_link_values, unpack_link_values

figure = st.floats(0.0, 1.0, width=32)


@given(figure, st.dictionaries(st.text(max_size=20), figure, max_size=30))
def test_what_is_packed_is_read_back(page: float, links: dict[str, float]) -> None:
    found = unpack_link_values(pack_link_values(page, links.items()))
    assert found.page == page
    assert {identity: found.of(identity) for identity in links} == links


def test_a_link_that_stands_twice_keeps_its_highest_figure() -> None:
    found = unpack_link_values(pack_link_values(0.5, [("a", 0.25), ("a", 0.75), ("a", 0.5)]))
    assert found.of("a") == 0.75
    assert found.of("b") == 0.0


def test_a_page_of_very_many_links_has_a_memo_of_twenty_kilobytes_at_most() -> None:
    packed = pack_link_values(0.1, ((f"http://a.example/{n}", (n % 97 + 1) / 98) for n in range(20_000)))
    assert len(packed) <= 20_480


@pytest.mark.parametrize("packed", [b"", b"not packed", b"\x78\x01"])
def test_another_memo_is_refused(packed: bytes) -> None:
    with pytest.raises(UsageError, match="another version"):
        unpack_link_values(packed)
