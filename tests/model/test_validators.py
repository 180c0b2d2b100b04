"""What of an answer is kept to ask by later, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Validators
from geocrawl.model.web import MAX_ETAG_CHARS, conditions, validators_of
from tests.support.answers import ENDPOINT, page

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


def kept(**fields: str) -> Validators | None:
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    return validators_of(replace(page("x"), headers=headers))


@pytest.mark.parametrize("tag", ['"abc"', 'W/"abc-gzip"', '""', '"a b"', f'"{"x" * (MAX_ETAG_CHARS - 2)}"'])
def test_an_entity_tag_is_sent_back_as_it_came(tag: str) -> None:
    found = kept(etag=f" {tag} ")
    assert found == Validators(ENDPOINT, tag)
    assert conditions(found) == {"If-None-Match": tag}


@pytest.mark.parametrize(
    "tag", ["*", "abc", '"a', '"a"b"', '"a", "b"', 'w/"a"', '"a\x01b"', '"a\nb"', '"é"', f'"{"x" * MAX_ETAG_CHARS}"']
)
def test_what_could_mean_something_else_or_is_endless_is_not_kept(tag: str) -> None:
    assert kept(etag=tag) is None


def test_a_date_is_sent_as_it_came_beside_the_tag() -> None:
    found = kept(etag='"a"', last_modified=DATE)
    assert found is not None
    assert conditions(found) == {"If-None-Match": '"a"', "If-Modified-Since": DATE}
    assert kept(last_modified=DATE) == Validators(ENDPOINT, "", DATE)


@pytest.mark.parametrize("date", ["yesterday", "0", "1994-11-06", f"{DATE}\x00", f"{DATE}, {DATE}", "٠" * 29])
def test_a_date_in_another_form_is_not_kept(date: str) -> None:
    assert kept(last_modified=date) is None


def test_only_a_whole_answer_of_success_has_validators() -> None:
    whole = replace(page("x"), headers={"etag": '"a"'})
    assert validators_of(whole) is not None
    assert validators_of(replace(whole, cut=True)) is None
    for status in (203, 206, 304, 404, 500):
        assert validators_of(replace(whole, status=status)) is None


@given(st.text(), st.text())
def test_whatever_a_server_sends_what_is_sent_back_is_a_line_of_ascii(etag: str, date: str) -> None:
    found = kept(etag=etag, last_modified=date)
    for value in conditions(found).values() if found else ():
        assert value.isascii() and value.isprintable() and len(value) <= MAX_ETAG_CHARS
