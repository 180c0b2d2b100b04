"""Endpoints: their identity, their address, the request for their capabilities."""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from geocrawl.model import Url
from geocrawl.urls import capabilities_address, capabilities_url, endpoint_key, query_parameters, read_url
from geocrawl.urls.endpoints import endpoint_address
from tests.urls.strategies import texts


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None, text
    return found


SAME = "http://gis.example.org/cgi-bin/Mapserv?map=/Data/Roads.map"


@pytest.mark.parametrize(
    "spelling",
    [
        SAME,
        "https://GIS.example.org:443/cgi-bin/Mapserv?MAP=/Data/Roads.map",
        SAME + "&service=WMS&request=GetMap&layers=a,b&bbox=1,2,3,4&width=10&dim_depth=5",
        "http://gis.example.org/cgi-bin/Mapserv?SERVICE=WMS&Map=%2FData%2FRoads.map&",
        SAME + "?service=WMS&amp;request=GetCapabilities",
        SAME + "&amp;amp;SERVICE=WMS",
        "http://gis.example.org/cgi-bin/Mapserv??map=/Data/Roads.map?",
        "http://gis.example.org/cgi-bin/Mapserv?&map=/Data/Roads.map&?service=WMS",
        SAME + ";service=WMS;request=GetMap",
        "http://gis.example.org/cgi-bin/Mapserv;jsessionid=12?map=/Data/Roads.map&utm_source=x&PHPSESSID=1",
    ],
)
def test_spellings_of_one_endpoint_share_their_key(spelling: str) -> None:
    assert endpoint_key(url(spelling)) == "gis.example.org/cgi-bin/Mapserv?map=/Data/Roads.map"


@pytest.mark.parametrize(
    "other",
    [
        "/cgi-bin/mapserv?map=/Data/Roads.map",
        "/cgi-bin/Mapserv?map=/data/roads.map",
        "/cgi-bin/Mapserv",
        "/cgi-bin/Mapserv/?map=/Data/Roads.map",
    ],
)
def test_paths_and_vendor_values_keep_their_case(other: str) -> None:
    assert endpoint_key(url("http://gis.example.org" + other)) != endpoint_key(url(SAME))


def test_values_in_another_encoding_stay_distinct() -> None:
    assert endpoint_key(url("http://a.org/?map=%b5%d8")) != endpoint_key(url("http://a.org/?map=%b5%d9"))


def test_the_endpoints_address_keeps_order_and_escaping_of_vendor_parameters() -> None:
    found = endpoint_address(url("http://a.org:8080/wms?token=x%2By|z&LAYERS=a&map=%2Fr.map&service=WMS&flag"))
    assert found.address == "http://a.org:8080/wms?token=x%2By|z&map=%2Fr.map&flag"


def test_what_a_proxy_is_to_ask_for_stays_whole() -> None:
    asked = url("http://a.org/proxy.php?url=http://b.org/wms?service=WMS&request=GetCapabilities")
    assert endpoint_address(asked).address == "http://a.org/proxy.php?url=http://b.org/wms?service=WMS"
    assert (
        endpoint_address(url("http://a.org/proxy?http://b.org/wms?")).address == "http://a.org/proxy?http://b.org/wms?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.org/wms", "http://a.org/wms?SERVICE=WMS&REQUEST=GetCapabilities"),
        ("http://a.org/wms?", "http://a.org/wms?SERVICE=WMS&REQUEST=GetCapabilities"),
        (
            "http://a.org/wms?service=wms&request=getmap&version=1.1.1&layers=x&styles=&format=image/png&map=a%2Fb",
            "http://a.org/wms?map=a%2Fb&SERVICE=WMS&REQUEST=GetCapabilities",
        ),
        (
            "http://a.org/m?map=x?service=WMS&amp;request=GetMap&",
            "http://a.org/m?map=x&SERVICE=WMS&REQUEST=GetCapabilities",
        ),
    ],
)
def test_a_capabilities_request_has_vendor_parameters_first_and_upper_case_names(text: str, expected: str) -> None:
    assert capabilities_url(url(text)).address == expected


def test_a_capabilities_request_names_service_and_version_when_told() -> None:
    found = capabilities_url(url("http://a.org/ows?map=m"), service="WFS", version="2.0.0")
    assert found.address == "http://a.org/ows?map=m&SERVICE=WFS&REQUEST=GetCapabilities&VERSION=2.0.0"


def test_query_parameters_are_decoded_in_order() -> None:
    found = query_parameters(url("http://a.org/?B=1+2&amp;a=%E5%9C%B0&flag&x=1=2&map=m?SERVICE=WMS"))
    assert found == (("B", "1 2"), ("a", "地"), ("flag", ""), ("x", "1=2"), ("map", "m"), ("SERVICE", "WMS"))
    assert query_parameters(url("http://a.org/")) == ()


_pairs = st.dictionaries(st.sampled_from(["map", "token", "cfg", "ns"]), st.text("aB/+地.", max_size=5), max_size=4)
_request = st.dictionaries(
    st.sampled_from(["SERVICE", "Request", "layers", "BBOX", "utm_term", "time"]), st.text("aB1", max_size=3)
)


@given(_pairs, _request, st.randoms(use_true_random=False))
def test_a_key_does_not_depend_on_order_case_or_request(
    vendor: dict[str, str], request: dict[str, str], random: Random
) -> None:
    plain = "&".join(f"{name}={value}" for name, value in vendor.items())
    mixed = [f"{name.upper()}={value}" for name, value in vendor.items()] + [
        f"{name}={value}" for name, value in request.items()
    ]
    random.shuffle(mixed)
    assert endpoint_key(url("http://a.org/ows?" + plain)) == endpoint_key(url("https://A.org/ows?" + "&".join(mixed)))


@given(texts)
def test_an_endpoints_address_and_request_have_its_key(text: str) -> None:
    found = read_url(text, "http://example.org/a/b?c")
    assume(found is not None)
    assert found is not None
    address = endpoint_address(found)
    assert endpoint_key(address) == endpoint_key(found)
    assert endpoint_address(address) == address
    request = capabilities_url(found)
    assert endpoint_key(request) == endpoint_key(found)
    assert capabilities_url(request) == request
    assert query_parameters(request)[-2:] == (("SERVICE", "WMS"), ("REQUEST", "GetCapabilities"))


@pytest.mark.shared
def test_endpoints_are_told_apart_as_the_scorer_does(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(shared / "tools"), *sys.path])
    from score_world import normalise_endpoint  # type: ignore[import-not-found]

    ours: dict[str, set[str]] = defaultdict(set)
    theirs: dict[str, set[str]] = defaultdict(set)
    with (shared / "corpus/urls.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if found := read_url(row["url"]):
                key = normalise_endpoint(row["url"])
                ours[endpoint_key(found)].add(key)
                theirs[key].add(endpoint_key(found))
    assert [keys for keys in ours.values() if len(keys) > 1] == []
    assert [keys for keys in theirs.values() if len(keys) > 1] == []


@pytest.mark.parametrize(
    ("kind", "address", "expected"),
    [
        ("wms", "https://a.example/ows?map=x", "https://a.example/ows?map=x&SERVICE=WMS&REQUEST=GetCapabilities"),
        ("wmsc", "https://a.example/ows", "https://a.example/ows?SERVICE=WMS&REQUEST=GetCapabilities"),
        ("wms", "https://a.example/wms.xml", ""),
        ("wmts", "https://a.example/1.0.0/WMTSCapabilities", ""),
        ("arcgis", "https://a.example/rest/services", ""),
    ],
)
def test_kinds_are_described_by_their_capabilities_where_they_have_such_a_request(
    kind: str, address: str, expected: str
) -> None:
    assert capabilities_address(kind, address) == expected
