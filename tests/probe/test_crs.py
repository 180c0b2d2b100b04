"""Spellings of reference systems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.probe.extents import crs_code, in_system, is_geographic, is_latitude_first, is_northing_first


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("EPSG:4326", "EPSG:4326"),
        ("epsg:4326", "EPSG:4326"),
        (" EPSG::25832\n", "EPSG:25832"),
        ("urn:ogc:def:crs:EPSG::4326", "EPSG:4326"),
        ("urn:ogc:def:crs:EPSG:6.9:4326", "EPSG:4326"),
        ("urn:ogc:def:crs:EPSG:6.18:3:3857", "EPSG:3857"),
        ("urn:ogc:def:crs:EPSG:21781", "EPSG:21781"),
        ("urn:x-ogc:def:crs:EPSG:4326", "EPSG:4326"),
        ("urn:ogc:crs:epsg:4326", "EPSG:4326"),
        ("http://www.opengis.net/gml/srs/epsg.xml#4326", "EPSG:4326"),
        ("http://www.opengis.net/def/crs/EPSG/0/4326", "EPSG:4326"),
        ("http://www.opengis.net/def/crs/EPSG/0/EPSG:4326", "EPSG:4326"),
        ("urn:ogc:def:crs:OGC:1.3:CRS84", "CRS:84"),
        ("http://www.opengis.net/def/crs/OGC/1.3/CRS84", "CRS:84"),
        ("urn:ogc:def:crs:OGC:2:84", "CRS:84"),
        ("CRS:84", "CRS:84"),
        ("urn:ogc:def:crs:OGC::imageCRS", "OGC:imageCRS"),
        ("IGNF:LAMB93", "IGNF:LAMB93"),
        ("", ""),
        ("urn:ogc:def:crs:", "urn:ogc:def:crs:"),
        ("something else", "somethingelse"),
    ],
)
def test_one_system_has_one_code(text: str, code: str) -> None:
    assert crs_code(text) == code


def test_long_spellings_have_latitude_first_and_short_ones_do_not() -> None:
    assert is_latitude_first("urn:ogc:def:crs:EPSG::4326")
    assert is_latitude_first("http://www.opengis.net/def/crs/EPSG/0/4258")
    assert not is_latitude_first("EPSG:4326")
    assert not is_latitude_first("urn:ogc:def:crs:EPSG::3857")
    assert is_geographic("EPSG:4326")
    assert not is_geographic("EPSG:3857")


def test_crs84_has_longitude_first_in_any_spelling() -> None:
    for text in ("CRS:84", "urn:ogc:def:crs:OGC:1.3:CRS84", "http://www.opengis.net/def/crs/OGC/1.3/CRS84"):
        assert is_geographic(text)
        assert not is_latitude_first(text)


@given(st.text(max_size=300))
def test_a_code_is_its_own_code_and_bounded(text: str) -> None:
    code = crs_code(text)
    assert len(code) <= 200
    assert crs_code(code) == code


@pytest.mark.parametrize(
    ("code", "in_degrees", "northing_first"),
    [
        ("EPSG:4326", True, True),
        ("EPSG:7844", True, True),  # GDA2020
        ("EPSG:6706", True, True),  # RDN2008
        ("EPSG:4490", True, True),  # CGCS2000
        ("EPSG:7035", True, False),  # RGSPM06 (lon-lat)
        (
            "EPSG:4549",
            False,
            True,
        ),  # CGCS2000 / 3-degree Gauss-Kruger CM 120E: no degrees, though between 4000 and 4999
        ("EPSG:4807", False, True),  # NTF (Paris), in grads from Paris
        ("EPSG:31467", False, True),  # DHDN / 3-degree Gauss-Kruger zone 3
        ("EPSG:25832", False, False),
        ("EPSG:3857", False, False),
        ("EPSG:999999999", False, False),
        ("CRS:84", True, False),
    ],
)
def test_units_and_axes_are_those_of_epsg(code: str, in_degrees: bool, northing_first: bool) -> None:
    assert (is_geographic(code), is_northing_first(code)) == (in_degrees, northing_first)


def test_degrees_of_any_system_are_a_box() -> None:
    box, codes = in_system("EPSG:6706", 7, 44, 8, 45)
    assert box is not None and (box.bounds, codes) == ((7.0, 44.0, 8.0, 45.0), ())
    assert in_system("EPSG:4549", 7, 44, 8, 45) == (None, ())
