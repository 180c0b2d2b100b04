"""The terms of a text: stems of English words, words of Chinese, pairs of characters of Japanese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.priority.text_terms import is_japanese, language_of, term_counts


def test_forms_of_an_english_word_are_one_term() -> None:
    assert term_counts("Service, services and SERVICING: map, maps") == {"servic": 3, "map": 2}


def test_stop_words_numbers_and_single_letters_are_no_terms() -> None:
    assert term_counts("the 2024 a B 3 of und der 的 wms2") == {"wms2": 1}


def test_german_words_keep_their_umlauts_and_lose_their_stop_words() -> None:
    assert term_counts("Die Böden und der Kartendienst") == {"böden": 1, "kartendienst": 1}


def test_chinese_is_split_into_words_beside_latin_ones() -> None:
    assert term_counts("网络地图服务（WMS）的图层") == {"网络": 1, "地图": 1, "服务": 1, "wms": 1, "图层": 1}


def test_a_long_run_of_chinese_is_split_like_a_short_one() -> None:
    assert term_counts("地图服务" * 30) == {"地图": 30, "服务": 30}


def test_japanese_is_cut_into_pairs_of_characters_without_hiragana() -> None:
    assert term_counts("地図サービスについて、WMSを") == {"地図": 1, "サー": 1, "ービ": 1, "ビス": 1, "wms": 1}


def test_names_of_languages_are_no_terms() -> None:
    assert term_counts("English Deutsch Русский 中文") == {}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("soil maps", "en"),
        ("Bodenkarten", "en"),
        ("土壤图和WMS", "zh"),
        ("土壌図について", "ja"),
        ("", "en"),
        ("A text with one 字", "en"),
    ],
)
def test_a_language_is_told_by_its_script(text: str, language: str) -> None:
    assert language_of(text) == language


def test_one_kana_in_a_chinese_text_does_not_make_it_japanese() -> None:
    assert not is_japanese("本网站提供网络地图服务和图层数据下载の")


@given(st.text())
def test_any_text_has_terms_with_counts_above_zero(text: str) -> None:
    counts = term_counts(text)
    assert all(term and count > 0 for term, count in counts.items())
    assert counts == term_counts(text)


BEGINNINGS = """capabil probab oper gener univers us y e sk d ly map hop hopp servic geo nat nation inter commun"""
ENDINGS = """s es ed ing ies ied ying eed edly ingly y ly li ational ization izations abilities ability alism fulness
ousness iveness biliti ogi ogist ement ment ent ion e l ll iciti icate ative ness 's"""
EXCEPTIONS = """skis skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes
inning outing canning herring earring proceed exceed succeed wms2 3d x1y2 yyyy"""


def test_the_stemmer_in_c_of_the_extra_speed_has_the_stems_of_the_one_in_python() -> None:
    stemmer = pytest.importorskip("Stemmer", reason="needs PyStemmer (the extra speed), which `make` installs")
    from snowballstemmer.english_stemmer import EnglishStemmer

    in_c, in_python = stemmer.Stemmer("english"), EnglishStemmer()
    endings = ["", *ENDINGS.split()]
    words = [begin + middle + end for begin in BEGINNINGS.split() for middle in endings for end in endings]
    words += EXCEPTIONS.split()
    assert [in_c.stemWord(word) for word in words] == [in_python.stemWord(word) for word in words]


def test_words_behind_a_number_count_and_letters_of_latin_1_are_part_of_words() -> None:
    assert term_counts("2024maps 3d4 x_y a-b Größe²") == {"map": 1, "d4": 1, "größe²": 1}
    assert term_counts("Łódź 12karte") == {"łódź": 1, "kart": 1}
