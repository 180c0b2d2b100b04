"""The query language: what is read, and what is refused with a message."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geocrawl.filters import Filters, QueryError, Sort
from geocrawl.model import Kind
from geocrawl.query.language import CONDITIONS, MAX_CHARS, Term, read_query


def test_words_phrases_beginnings_and_exclusions_are_told_apart() -> None:
    query = read_query('land "water quality" hydro* -historic -"old maps"')
    assert query.terms == (Term("land"), Term("water quality", is_phrase=True), Term("hydro", is_prefix=True))
    assert query.excluded == (Term("historic"), Term("old maps", is_phrase=True))


def test_conditions_are_read_with_their_values() -> None:
    query = read_query(
        'kind:wms,WFS crs:4326 bbox:5,47,15,55 alive:30d level:delivers provider:"survey office" sort:name'
    )
    assert query.filters == Filters(
        kinds=(Kind.WMS, Kind.WFS),
        systems=("EPSG:4326",),
        box=(5, 47, 15, 55),
        answered_within_s=30 * 86_400,
        level="delivers",
        providers=("survey office",),
    )
    assert (query.sort, query.terms) == (Sort.NAME, ())
    assert read_query("-kind:csw").without == (Filters(kinds=(Kind.CSW,)),)


def test_a_provider_in_quotes_is_one_name() -> None:
    assert read_query('provider:"Roads, Rivers" provider:a,b').filters.providers == ("Roads, Rivers", "a", "b")
    assert read_query('-provider:"Roads, Rivers"').without == (Filters(providers=("Roads, Rivers",)),)


def test_quotes_and_colons_of_other_keyboards_mean_the_same() -> None:
    assert read_query("„land cover“ kind：wms　water") == read_query('"land cover" kind:wms water')


def test_a_colon_within_a_word_is_no_condition() -> None:
    assert [term.text for term in read_query("ne:roads http://a.example/wms").terms] == [
        "ne:roads",
        "http://a.example/wms",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind:wmz", "expected one of wms"),
        ("bbox:1,2,3", "expected W,S,E,N"),
        ("bbox:0,50,10,40", "south below north"),
        ("bbox:nan,0,1,1", "expected W,S,E,N"),
        ("bbox:-900,0,1,1", "expected W,S,E,N"),
        ("crs:what", "such as EPSG:4326"),
        ("alive:soon", "such as 12h"),
        ("level:high", "expected advertised, answers or delivers"),
        ("health:fine", "expected new, alive"),
        ("country:atlantis", "a country's name"),
        ("sort:best", "expected relevance"),
        ("format:" + ",".join("abcdefghijklmnopqrstuvwxyz"), "name 20 at most"),
        ("a " * 10_000, "shorten it"),
        ("a " * 70, "70 words"),
        ("x" * (MAX_CHARS + 1), "shorten it to 2,000"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_message(text: str, said: str) -> None:
    with pytest.raises(QueryError) as raised:
        read_query(text)
    assert said in str(raised.value)
    assert len(str(raised.value)) < 400


@given(st.text(max_size=200))
@example('"')
@example("-")
@example("a\0b")
@example('-"" *** "*"')
@example("kind:")
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(QueryError):
        query = read_query(text)
        assert all(term.text.strip() for term in (*query.terms, *query.excluded))


@given(st.sampled_from(sorted(CONDITIONS)), st.text(max_size=60))
def test_any_value_of_a_condition_is_read_or_refused(name: str, value: str) -> None:
    with contextlib.suppress(QueryError):
        read_query(f'{name}:"{value}"')
