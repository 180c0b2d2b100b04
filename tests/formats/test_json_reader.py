"""JSON read tolerantly: what is overlooked is named, what is cut off is never completed, nothing raises."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.formats import json as json_reader
from geocrawl.formats.json import read_json

TOLERATED = {
    b'\xef\xbb\xbf{"a": 1}': "bom",
    '{"a": 1}'.encode("utf-16"): "bom",
    '{"a": 1}'.encode("utf-16-le"): "wrong-charset",
    b'{"a": 1, "b": "Z\xfcrich"}': "wrong-charset",
    b'{"a": NaN, "b": 1}': "json-nan",
    b'{"a": 0, "a": 1}': "json-duplicate-key",
    b'[{"a": 1}]': "json-in-list",
    b'dojo.io.script.jsonp_1({"a": 1});': "jsonp",
    b'/**/callback([{"a": 1}])': "jsonp",
    b')]}\',\n{"a": 1}': "jsonp",
    b'Warning: mysql_connect() failed\n{"a": 1}': "junk-before",
    b'{"a": 1}<!-- 12 ms -->': "json-not-well-formed",
    b'{"a": 1, "b": [1, 2,],}': "json-not-well-formed",
    b'{"a": 1, "b": "line\nbreak"}': "json-not-well-formed",
}
REFUSED = {
    b'{"a": 1, "b": [1, 2': "truncated",
    b'{"a": 1, "b": "cut in a str': "truncated",
    b'callback({"a": [1': "truncated",
    b"just a text": "not-json",
    b"[1, 2, 3]": "not-json",
    b'"a string"': "not-json",
    b"{'a': 1}": "not-json",
    b'{"a": ' + b"9" * 5000 + b"}": "not-json",
}


@pytest.mark.parametrize("body", TOLERATED, ids=TOLERATED.values())
def test_each_fault_is_read_over_and_named(body: bytes) -> None:
    reading = read_json(body)
    assert reading.value is not None
    assert "a" in reading.value
    assert [deviation.code for deviation in reading.deviations] in (
        [TOLERATED[body]],
        [TOLERATED[body], "json-in-list"],
    )


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_meant_is_refused_with_a_reason(body: bytes) -> None:
    reading = read_json(body)
    assert (reading.value, reading.fault) == (None, REFUSED[body])
    assert reading.detail


def test_a_good_object_has_no_deviation() -> None:
    assert read_json(b' {"a": [1, 2.5, null, "\xc3\xbc"]} \n').deviations == ()


def test_commas_and_brackets_within_strings_are_kept_as_they_are() -> None:
    reading = read_json(b'{"a": "[1,2,] and \\"{,}\\"", }')
    assert reading.value == {"a": '[1,2,] and "{,}"'}


def test_the_last_of_two_equal_keys_is_taken() -> None:
    assert read_json(b'{"a": 0, "a": 1}').value == {"a": 1}


def test_brackets_without_end_are_over_the_limit_and_no_crash() -> None:
    assert read_json(b'{"a":' * 100_000).fault in ("over-limit", "truncated")
    assert read_json(b'{"a":' * 100_000 + b"1" + b"}" * 100_000).fault == "over-limit"


def test_too_many_bytes_and_too_many_values_are_not_even_parsed() -> None:
    started = time.process_time()
    many = b'{"a": [' + b"[]," * json_reader.MAX_VALUES + b"[]]}"
    assert read_json(many).fault == "over-limit"
    assert read_json(b" " * (json_reader.MAX_BYTES + 1)).fault == "over-limit"
    assert time.process_time() - started < 5


@pytest.mark.parametrize("piece", ['\\"', '"', ",", ", ", "[", "{}", "\\"])
def test_malformed_text_of_one_kind_takes_time_in_proportion(piece: str) -> None:
    started = time.process_time()
    for begin, end in (('{} "', ""), ('{"a":', "\\"), ("[" * 101, "\\")):
        read_json((begin + piece * (300_000 // len(piece)) + end).encode())
    assert time.process_time() - started < 10


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise(body: bytes) -> None:
    reading = read_json(body)
    assert (reading.value is None) == bool(reading.fault)


_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.dictionaries(_TEXTS, st.recursive(st.none() | st.booleans() | st.integers() | _TEXTS, st.lists)))
def test_every_object_that_json_writes_is_read_without_deviation(value: dict[str, object]) -> None:
    reading = read_json(json.dumps(value).encode())
    assert (reading.value, reading.deviations) == (value, ())


@given(st.data())
def test_an_object_cut_anywhere_is_never_taken_for_whole(data: st.DataObject) -> None:
    body = b'{"currentVersion": 10.9, "layers": [{"id": 0, "name": "a, b"}], "x": "{\\"}"}'
    cut = data.draw(st.integers(1, len(body) - 1))
    assert read_json(body[:cut]).value is None
