"""What stands around a link."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Link
from geocrawl.priority.text_terms import link_contexts
from tests.priority.documents import url


def beside(anchor: str, context: str = "", where: str = "a") -> Link:
    return Link(url("http://a.example/x"), anchor, context, "", where)


def test_a_link_in_running_text_has_the_text_as_its_context() -> None:
    assert link_contexts([beside("here", "the WMS of the survey is")]) == [("the WMS of the survey is",)]


def test_links_in_the_window_give_their_anchors_instead_of_the_text() -> None:
    links = [beside("WMS", "see also WFS"), beside("WFS", "WMS see also or WCS"), beside("WCS", "WFS or")]
    assert link_contexts(links) == [("WFS",), ("WMS", "WCS"), ("WFS",)]


def test_only_the_one_neighbour_on_each_side_is_taken() -> None:
    links = [beside(word, "one two three four five") for word in ("one", "two", "three", "four", "five")]
    assert link_contexts(links)[2] == ("two", "four")


def test_a_neighbour_in_another_block_does_not_stand_in_the_window() -> None:
    links = [beside("Imprint"), beside("service", "our map"), beside("Contact")]
    assert link_contexts(links)[1] == ("our map",)


def test_links_alone_in_their_block_have_the_anchors_before_and_behind() -> None:
    assert link_contexts([beside("a"), beside("b"), beside("c")]) == [("b",), ("a", "c"), ("b",)]


def test_a_long_neighbour_that_the_window_cuts_still_stands_in_it() -> None:
    links = [beside("x", "x and Geological map of the whole cou"), beside("Geological map of the whole country")]
    assert link_contexts(links)[0] == ("Geological map of the whole country",)


def test_forms_frames_and_links_without_words_are_no_neighbours() -> None:
    links = [beside("name", where="form"), beside("a"), beside(""), beside("frame", where="iframe")]
    assert link_contexts(links)[1] == ()
    assert link_contexts(links)[2] == ()


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=60)), max_size=12))
def test_every_link_has_at_most_two_texts_around_it(texts: list[tuple[str, str]]) -> None:
    contexts = link_contexts([beside(anchor, context) for anchor, context in texts])
    assert len(contexts) == len(texts)
    assert all(len(context) <= 2 and all(context) for context in contexts)
