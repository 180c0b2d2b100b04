"""Addresses of pages of records: requests made, counted, and moved on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from geocrawl.model import Url
from geocrawl.urls import (
    arcgis_search_url,
    ckan_search_url,
    get_records_url,
    query_parameters,
    read_url,
    records_page,
    records_start,
    records_url,
    with_parameters,
)
from geocrawl.urls.slices import modified_since

from .strategies import texts


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None
    return found


def values(asked: Url) -> dict[str, str]:
    return dict(query_parameters(asked))


def test_records_are_asked_for_at_the_endpoint_that_was_asked_for_capabilities() -> None:
    asked = get_records_url(url("http://c.example/csw?map=a&service=CSW&request=GetCapabilities&version=2.0.2"))
    assert asked.address.startswith("http://c.example/csw?map=a&SERVICE=CSW&REQUEST=GetRecords&VERSION=2.0.2&")
    assert (values(asked)["typeNames"], values(asked)["startPosition"]) == ("csw:Record", "1")
    assert values(asked)["outputSchema"] == "http://www.opengis.net/cat/csw/2.0.2"


def test_version_3_has_its_own_schema_and_no_result_type() -> None:
    asked = values(get_records_url(url("http://c.example/csw"), version="3.0.0"))
    assert (asked["VERSION"], asked["outputSchema"]) == ("3.0.0", "http://www.opengis.net/cat/csw/3.0")
    assert "resultType" not in asked


def test_since_is_a_filter_on_the_day_of_change() -> None:
    asked = values(modified_since(get_records_url(url("http://c.example/csw")), "2024-05-01"))
    assert (asked["constraintLanguage"], asked["constraint_language_version"]) == ("FILTER", "1.1.0")
    chosen = etree.fromstring(asked["constraint"])
    (condition,) = chosen
    assert [each.tag.partition("}")[2] for each in (chosen, condition)] == ["Filter", "PropertyIsGreaterThanOrEqualTo"]
    assert condition.findtext("{*}PropertyName") == "dct:modified"
    assert condition.findtext("{*}Literal") == "2024-05-01"


@pytest.mark.parametrize(
    ("address", "page", "start"),
    [
        ("http://c.example/csw?REQUEST=GetRecords&StartPosition=21&maxrecords=10", 2, 20),
        ("http://c.example/csw?request=GetRecords", 0, 0),
        ("http://d.example/api/3/action/package_search?rows=100&start=300", 3, 300),
        ("http://d.example/ckan/api/action/package_list?offset=50&limit=25", 2, 50),
        ("http://a.example/portal/sharing/rest/search?q=x&num=10&start=31", 3, 30),
        ("http://g.example/geonetwork/srv/eng/q?from=101&to=200", 1, 100),
        ("http://o.example/collections/r/items?limit=20&startindex=40", 2, 40),
        ("http://o.example/collections/r/items?offset=40", 4, 40),
        ("http://x.example/catalog.rdf?page=7", 6, None),
        ("http://c.example/csw?request=GetRecords&startPosition=999999999999999999999", 0, 0),
    ],
)
def test_a_page_of_records_is_counted_by_its_address(address: str, page: int, start: int | None) -> None:
    assert (records_page(url(address)), records_start(url(address))) == (page, start)


@pytest.mark.parametrize("address", ["http://x.example/?page=7&start=300", "http://x.example/items?offset=40"])
def test_other_pages_have_no_number(address: str) -> None:
    assert records_page(url(address)) is None
    assert records_url(url(address), 50) is None


def test_the_next_page_keeps_all_else_as_it_was() -> None:
    asked = url("http://c.example/csw?map=/a%20b&request=GetRecords&startposition=1&constraint=x%3D'y'")
    following = records_url(asked, 10)
    assert following is not None
    assert following.address == "http://c.example/csw?map=/a%20b&request=GetRecords&startposition=11&constraint=x%3D'y'"


def test_geonetwork_is_asked_for_a_range() -> None:
    following = records_url(url("http://g.example/srv/eng/q?from=1&to=20"), 20)
    assert following is not None
    assert following.address.endswith("?from=21&to=40")


def test_catalogues_are_asked_by_their_software() -> None:
    ckan = ckan_search_url("http://d.example/", since="2024-05-01")
    assert ckan is not None
    assert values(ckan)["fq"] == "metadata_modified:[2024-05-01T00:00:00Z TO *]"
    portal = arcgis_search_url("http://a.example/portal", since="2024-05-01")
    assert portal is not None
    assert values(portal)["q"].endswith(" AND modified:[1714521600000 TO 9999999999999]")
    assert ckan_search_url("nothing") is None


@given(texts, st.integers(0, 10_000))
def test_any_address_moves_on_to_the_record_that_is_asked_for(text: str, start: int) -> None:
    asked = read_url(text)
    following = records_url(asked, start) if asked is not None else None
    if following is not None:
        assert records_start(following) == start


@given(texts, st.dictionaries(st.sampled_from(["a", "Start", "q"]), st.text(max_size=5), max_size=2))
def test_parameters_are_set_once(text: str, changes: dict[str, str]) -> None:
    asked = read_url(text)
    if asked is not None:
        named = [name.lower() for name, _ in query_parameters(with_parameters(asked, changes))]
        assert all(name.lower() in named for name in changes)
