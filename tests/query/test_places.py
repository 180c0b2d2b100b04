"""Places: names in several languages, boxes, and the country of a service."""

from __future__ import annotations

import pytest

from geocrawl.filters import QueryError
from geocrawl.query.fold import words_of
from geocrawl.query.places import country_name, shipped_places


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Germany", "DE"),
        ("Deutschland", "DE"),
        ("德国", "DE"),
        ("德國", "DE"),
        ("Bayern", "DE.02"),
        ("Bavaria", "DE.02"),
        ("四川", "CN.32"),
        ("United Kingdom", "GB"),
        ("USA", "US"),
        ("Côte d'Ivoire", "CI"),
        ("Europe", "*.150"),
        ("Österreich", "AT"),
        ("Россия", "RU"),
        ("New South Wales", "AU.02"),
    ],
)
def test_a_place_is_known_by_its_names(name: str, code: str) -> None:
    assert [place.code for place in shipped_places().named(tuple(words_of(name)))] == [code]


def test_every_box_is_within_the_world_and_none_crosses_the_antimeridian() -> None:
    places = shipped_places().by_code.values()
    assert len(places) > 3_500
    for place in places:
        assert place.names and place.boxes, place.code
        for west, south, east, north in place.boxes:
            assert -180 <= west <= east <= 180 and -90 <= south <= north <= 90, place.code


def test_parts_beyond_the_antimeridian_have_boxes_of_their_own() -> None:
    assert {west < 0 for west, *_ in shipped_places().by_code["FJ"].boxes} == {True, False}


@pytest.mark.parametrize(
    ("host", "extent", "country"),
    [
        ("geo.bayern.de", (9, 47.3, 13.8, 50.5), "DE"),
        ("maps.example.com", (9, 47.3, 13.8, 50.5), "DE"),
        ("maps.example.com", (-5, 41.3, 9.6, 51.1), "FR"),
        ("maps.example.de", None, "DE"),
        ("data.example.io", None, ""),
        ("maps.example.com", None, ""),
        ("maps.example.com", (-180, -90, 180, 90), ""),
        ("gis.example.uk", (-8, 50, 2, 61), "GB"),
        ("maps.example.fr", (0, -30, 90, 40), ""),
    ],
)
def test_the_country_of_a_service_is_that_of_its_extent_and_host(
    host: str, extent: tuple[float, float, float, float] | None, country: str
) -> None:
    assert shipped_places().country_of(host, extent) == country


def test_a_country_is_read_by_code_or_name_and_no_region_is_one() -> None:
    read_country = shipped_places().read_country
    assert [read_country(text) for text in ("de", "uk", "France", "中国")] == ["DE", "GB", "FR", "CN"]
    for text in ("Bavaria", "DE.02", "zz", "", "europe"):
        with pytest.raises(QueryError, match="a country's name"):
            read_country(text)


def test_a_country_is_called_by_its_name_in_english_or_chinese() -> None:
    assert [country_name(code) for code in ("CH", "JP", "XX")] == ["Switzerland", "Japan", "XX"]
    assert [country_name(code, "zh") for code in ("CH", "JP", "XX")] == ["瑞士", "日本", "XX"]
    countries = [code for code in shipped_places().by_code if code.isalpha()]
    assert len(countries) > 230 and not any(country_name(code, "zh").isascii() for code in countries)
