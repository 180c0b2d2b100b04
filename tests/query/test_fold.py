"""Folding: spellings of one word become one, in texts and queries alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.query.fold import (
    folded,
    folded_for_index,
    forms,
    lines_of_words,
    plurals,
    spellings,
    words_of,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fläche", "FLACHE"),
        ("Straße", "strasse"),
        ("ＷＭＳ", "wms"),
        ("Île-de-France", "ile de france"),
        ("Łódź", "lodz"),
        ("Gävle", "gavle"),
        ("土地覆蓋", "土地覆盖"),
        ("廣東", "广东"),
        ("Ёлка", "елка"),
        ("Ｌａｎｄ　ｕｓｅ", "land use"),
        ("e\u0301tat", "état"),
    ],
)
def test_spellings_of_one_word_are_equal(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(
    ("typed", "stored"), [("Flaeche", "Fläche"), ("Fläche", "Flaeche"), ("Fläche", "Flache"), ("Goeteborg", "Göteborg")]
)
def test_an_umlaut_is_found_however_it_is_written(typed: str, stored: str) -> None:
    assert set(spellings(typed)) & set(words_of(stored))


def test_names_that_programs_write_are_found_by_their_parts() -> None:
    words = words_of(folded_for_index("LandUse2018 ne:road_lines DEM10m EPSG25832"))
    assert {"landuse2018", "landuse", "land", "use", "2018", "ne", "road", "lines", "dem", "epsg"} <= set(words)


def test_chinese_is_divided_by_character_and_scripts_with_marks_are_kept_whole() -> None:
    assert words_of("WMS服务2") == ["wms", "服", "务", "2"]
    assert words_of("नक्शा") == ["नक्शा"]
    assert len(words_of("แผนที่")) == 1


@given(st.lists(st.text(max_size=40), max_size=5))
def test_texts_that_are_folded_together_are_folded_as_each_alone(texts: list[str]) -> None:
    lines = lines_of_words(texts)
    assert [line.split() for line in lines] == [words_of(text) for text in texts]
    assert all(line[0] == line[-1] == " " for line in lines)


@given(st.text(max_size=80))
def test_folding_twice_changes_nothing(text: str) -> None:
    once = words_of(text)
    assert words_of(" ".join(once)) == once


@given(st.text(max_size=80))
def test_a_text_for_the_index_has_all_words_of_the_text(text: str) -> None:
    assert set(words_of(text)) <= set(words_of(folded_for_index(text)))


@given(st.text(max_size=40))
def test_case_and_width_make_no_difference_to_ascii(text: str) -> None:
    ascii_text = "".join(letter for letter in text if letter.isascii() and letter.isprintable())
    wide = "".join(chr(ord(letter) + 0xFEE0) if letter.isalnum() else letter for letter in ascii_text)
    assert words_of(wide) == words_of(ascii_text.upper()) == words_of(ascii_text)


@given(st.text(max_size=40))
def test_a_word_is_its_own_first_spelling_and_form(text: str) -> None:
    for word in words_of(text):
        assert forms(word)[0] == plurals(word)[0] == word
        assert len(forms(word)) == len(set(forms(word))) <= 24
    assert "\0" not in folded(text)


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("forests", "forest"),
        ("forest", "forests"),
        ("Karten", "Karte"),
        ("boundary", "boundaries"),
        ("zones", "zone"),
        ("Gebiete", "Gebiet"),
        ("bosque", "bosques"),
        ("mapping", "mapped"),
        ("riviere", "rivieres"),
        ("strasse", "strassen"),
    ],
)
def test_forms_of_a_word_lead_to_each_other(typed: str, stored: str) -> None:
    assert stored.lower() in forms(typed.lower())


def test_forms_do_not_join_different_words() -> None:
    assert "wat" not in forms("water")
    assert forms("dem") == ("dem", "dems")
    assert forms("of") == ("of",)
    assert forms("2018") == ("2018",)
