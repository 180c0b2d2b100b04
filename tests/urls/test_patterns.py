"""What addresses of one program have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Kind
from geocrawl.urls import pattern_of, read_url, service_pattern

ONE_PATTERN = [
    ("http://a.test/cal/2031/05?view=month", "http://a.test/cal/1999/12?view=day"),
    ("http://a.test/page-17.html", "http://a.test/page-2.html"),
    ("http://a.test/x;sid=deadbeef01", "http://a.test/x;sid=99c0ffee"),
    ("http://a.test/d/550e8400-e29b-41d4-a716-446655440000", "http://a.test/d/123e4567-e89b-12d3-a456-426614174000"),
    ("http://a.test/f?color=red&size=1", "http://a.test/f?size=9&color=blue"),
    ("http://a.test/f?f[0]=a", "http://a.test/f?f[1]=b"),
    ("http://n1.a.org/x", "http://n2.a.org/x"),
    ("http://a.test/s/Zm9vYmFyYmF6cXV4MTIz/", "http://a.test/s/YmF6cXV4Zm9vYmFyNDU2/"),
]
DIFFERENT = [
    ("http://a.test/dataset/roads", "http://a.test/dataset/rivers"),
    ("http://a.test/%E5%9C%B0%E5%9B%BE", "http://a.test/%E5%BD%B1%E5%83%8F"),
    ("http://a.test/1", "http://b.test/1"),
    ("http://www.maps1.org/1", "http://www.maps2.org/1"),
    ("http://127.0.0.1/p/1", "http://127.0.0.2/p/1"),
    ("http://a.test:8080/1", "http://a.test:8081/1"),
    ("http://a.test/f?a=1", "http://a.test/f?b=1"),
]


def pattern(text: str) -> str:
    url = read_url(text)
    assert url is not None
    return pattern_of(url)


@pytest.mark.parametrize(("one", "other"), ONE_PATTERN)
def test_numbers_dates_hashes_and_values_are_blanked(one: str, other: str) -> None:
    assert pattern(one) == pattern(other) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_words_hosts_and_names_of_parameters_are_not(one: str, other: str) -> None:
    assert pattern(one) == pattern(other) == "" or pattern(one) != pattern(other)


@pytest.mark.parametrize("text", ["http://a.test/", "http://a.test/wms/roads", "http://a.test/%E5%9C%B0"])
def test_what_holds_nothing_to_blank_is_no_pattern(text: str) -> None:
    assert pattern(text) in ("", "a.test/%e5%9c%b0")


def test_a_page_of_records_has_bounds_of_its_own() -> None:
    assert pattern("http://a.test/csw?service=CSW&request=GetRecords&startPosition=11&maxRecords=10") == ""


def test_services_on_any_host_of_a_site_are_alike() -> None:
    texts = ("http://n1.a.test/wms?map=1", "http://n2.a.test/wms?map=2")
    found = {service_pattern(url, "a.test", Kind.WMS) for text in texts if (url := read_url(text))}
    assert found == {"wms a.test/wms?map"}


@given(st.text("xyz0189-/._?&=", max_size=60), st.integers(1, 9))
def test_other_numbers_make_no_other_pattern(text: str, more: int) -> None:
    moved = "".join(str((int(c) + more) % 10) if c.isdigit() else c for c in text)
    one, other = read_url(f"http://a.test/x/{text}"), read_url(f"http://a.test/x/{moved}")
    assert one is not None and other is not None
    assert pattern_of(one) == pattern_of(other)


@given(st.text(max_size=200))
def test_no_address_raises(text: str) -> None:
    if url := read_url(f"http://a.test/{text}"):
        assert len(pattern_of(url)) <= 2048 + 4096
