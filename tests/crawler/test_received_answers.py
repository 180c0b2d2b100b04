"""`ReceivedAnswers`: what scripts received is given to one visit, and bounded."""

from __future__ import annotations

from geocrawl.crawler.page_visit import MOST_BYTES, MOST_S, ReceivedAnswers
from geocrawl.model import Page
from tests.support.crawls import url


def page(address: str, size: int = 2) -> Page:
    asked = url(address)
    return Page(asked, asked, 200, {"content-type": "application/json"}, b" " * size, 1.0, 1000.0)


def test_an_answer_is_given_once() -> None:
    kept, answer = ReceivedAnswers(), page("http://a.example/data?page=1")
    kept.keep([answer])
    assert kept.take(url("http://a.example/data?page=2"), 1001.0) is None
    assert kept.take(answer.url, 1001.0) is answer
    assert kept.take(answer.url, 1001.0) is None


def test_an_old_answer_is_requested_again() -> None:
    kept = ReceivedAnswers()
    kept.keep([page("http://a.example/a"), page("http://a.example/b")])
    assert kept.take(url("http://a.example/a"), 1000.0 + MOST_S) is not None
    assert kept.take(url("http://a.example/b"), 1000.1 + MOST_S) is None


def test_the_oldest_answers_make_room_for_newer_ones() -> None:
    kept, half = ReceivedAnswers(), MOST_BYTES // 2
    kept.keep([page("http://a.example/a", half), page("http://a.example/b", half)])
    kept.keep([page("http://a.example/a", half), page("http://a.example/c")])  # a was renewed, so b is the oldest
    found = {name for name in "abc" if kept.take(url(f"http://a.example/{name}"), 1001.0) is not None}
    assert found == {"a", "c"}
