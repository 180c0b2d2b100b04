"""The language of a service's texts is read from their words, and nothing is said of what has too few."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from geocrawl.model.languages import LEAST_CHARS, is_meant, language_of, three_letters, two_letters

pytest.importorskip("py3langid", reason="needs py3langid: make dev-env")
TEXTS = [
    line.split("\t") for line in (Path(__file__).parent / "texts_of_languages.tsv").read_text("utf-8").splitlines()
]
"""Code and text: what services may say of themselves, written for this test, twenty in each of ten languages."""


def test_of_two_hundred_texts_in_ten_languages_nineteen_in_twenty_are_read() -> None:
    read = defaultdict[str, list[bool]](list)
    for code, text in TEXTS:
        assert len(text) >= LEAST_CHARS
        read[code].append(language_of([text]) == code)
    assert (len(read), {len(each) for each in read.values()}) == (10, {20})
    assert sum(map(sum, read.values())) >= 190
    assert {code for code, right in read.items() if sum(right) < 18} == set()


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["WMS_DE_BASEMAP"], ""),
        (["Flurstücke"], ""),
        (["http://maps.example.org/karten/flurstuecke/und/gebaeude/der/stadt/und/des/kreises/wms"], ""),
        (["SRTM30_PLUS rf_2m_0001 dlm250_ebenen alkis_v2_a alkis_v2_b GEMARKUNG_01 GEMARKUNG_02"], ""),
        (["Flurstücke", "", "Grenzen", "der Gemeinden und der Kreise", "Gebäude mit Hausnummern"], "de"),
        (["UEBERSCHWEMMUNGSGEBIETE UND RISIKOGEBIETE DES LANDES NACH DEM WASSERHAUSHALTSGESETZ"], "de"),
        (["Bestand", "Bestand", "Bestand", "Bestand", "Bestand", "Bestand", "Bestand", "Bestand"], ""),
        (
            [
                "Copernicus Sentinel L2A NDVI Raster Index Product Corine Land Cover OSM Europa",
                "Bodenrichtwerte der Gemeinden und der Kreise",
                "Flurstücke mit ihren Grenzen, Gebäude mit Hausnummern und die Nutzung des Bodens im Land",
            ],
            "de",
        ),
        (["Kart over verneområder i Norge, med formålet med vernet og året da vedtaket ble gjort."], "no"),
        (
            [
                "臺灣地區土地利用現況圖，包含農業、森林、交通、水利與建築用地，每季更新一次，供各機關規劃參考使用，不得作為訴訟之依據，亦不得轉售。"
            ],
            "zh",
        ),
    ],
)
def test_what_has_too_few_words_has_no_language(texts: list[str], language: str) -> None:
    assert language_of(texts) == language


@pytest.mark.parametrize(("asked", "meant"), [("de", True), ("DE", True), ("de-AT", True), ("en", False), ("d", False)])
def test_a_language_is_asked_for_by_its_code_with_or_without_a_country(asked: str, meant: bool) -> None:
    assert is_meant("de", asked) == meant


def test_metadata_name_languages_by_three_letters() -> None:
    assert [three_letters(code) for code in ("de", "zh", "", "xx")] == ["deu", "zho", "", ""]


@pytest.mark.parametrize(
    ("stated", "code"),
    [("ger", "de"), ("DEU", "de"), ("de-AT", "de"), ("nob", "no"), ("nb", "no"), ("", ""), ("und", ""), ("xx", "")],
)
def test_a_document_may_name_its_language_in_any_form(stated: str, code: str) -> None:
    assert two_letters(stated) == code
