"""Answers to requests for JSON, as every probe that asks for it classifies them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocrawl.formats.json import JsonObject
from geocrawl.model import Deviation, Failure, FailureCode, Page
from geocrawl.probe.answer import Classification
from geocrawl.probe.json_answers import examine_json, json_of, licence_in
from tests.probe.json_answers import Body, answer
from tests.support.answers import url

ERROR = {"code": "NoSuchKey", "description": "there is none"}
CAPABILITIES_OF_ARCGIS = {"currentVersion": 11.1, "layers": [], "mapName": "Roads"}


def nothing_known(page: Page, value: JsonObject) -> Classification | None:
    return None


def everything(page: Page, value: JsonObject) -> Classification | None:
    return Classification("")


@pytest.mark.parametrize(
    ("status", "body", "reason", "detail"),
    [
        (200, {"error": {"code": 499, "message": "Token Required"}}, "protected", "499 Token Required"),
        (401, {"error": {"message": "Sign in"}}, "protected", "401 Sign in"),
        (403, {"code": "Forbidden", "description": "not you"}, "protected", "Forbidden not you"),
        (200, {"error": {"code": 400, "message": "Bad", "details": ["one", "two"]}}, "exception", "400 Bad one two"),
        (200, {"error": "broken"}, "exception", "broken"),
        (200, ERROR, "exception", "NoSuchKey there is none"),
        (200, {"code": 7, "description": "a number"}, "exception", "7 a number"),
        (200, {"status": 400, "title": "Bad Request"}, "exception", "400 Bad Request"),
        (200, {"status": 200, "title": "Roads"}, "not-capabilities", "JSON with status, title"),
        (200, {**ERROR, "links": []}, "not-capabilities", "JSON with code, description, links"),
        (500, ERROR, "http-500", "HTTP 500"),
        (300, {"a": 1}, "http-300", "HTTP 300"),
        (404, CAPABILITIES_OF_ARCGIS, "http-404", "HTTP 404"),
        (200, CAPABILITIES_OF_ARCGIS, "other-kind", "a document of arcgis"),
    ],
)
def test_json_that_is_not_the_document_is_classified(status: int, body: Body, reason: str, detail: str) -> None:
    found = examine_json(answer(body, status=status), nothing_known)
    assert (found.reason, found.detail) == (reason, detail)


def test_json_that_was_cut_is_not_read_though_what_came_is_whole() -> None:
    found = examine_json(replace(answer({"a": 1}), cut=True), everything)
    assert (found.reason, found.value) == ("over-limit", {})


@pytest.mark.parametrize(
    ("status", "content_type", "deviations"),
    [
        (200, "application/json", []),
        (299, "text/json", []),
        (200, "application/geo+json", []),
        (300, "application/json", [("http-status", "300")]),
        (404, "text/html", [("http-status", "404"), ("content-type", "text/html")]),
        (200, "", [("content-type", "none")]),
    ],
)
def test_departures_beside_an_accepted_document_are_noted(
    status: int, content_type: str, deviations: list[tuple[str, str]]
) -> None:
    found = examine_json(answer({"a": 1}, status=status, content_type=content_type), everything)
    assert found.value == {"a": 1}
    assert list(found.deviations) == [Deviation(*each) for each in deviations]


def test_further_questions_are_answered_by_successes_alone() -> None:
    assert json_of(answer({"a": 1}, status=299)) == {"a": 1}
    assert json_of(answer({"a": 1}, status=300)) is None
    assert json_of(answer({"a": 1}, location="http://elsewhere.example/")) is None
    assert json_of(Failure(url("http://a.example/"), FailureCode.REFUSED, "nobody listens")) is None


_BY = {"rel": "license", "href": "https://creativecommons.org/licenses/by/4.0/"}


@pytest.mark.parametrize(
    ("value", "parts", "licence"),
    [
        ({"license": "CC-BY-4.0", "links": [_BY]}, [], "CC-BY-4.0"),
        ({"links": [_BY]}, [], _BY["href"]),
        ({"license": "other", "links": [_BY]}, [], f"other; {_BY['href']}"),
        ({"license": "proprietary"}, [], "proprietary"),
        ({}, [{"license": "ODbL-1.0"}, {"license": "ODbL-1.0"}], "ODbL-1.0"),
        ({}, [{"license": "ODbL-1.0"}, {"license": "CC0-1.0"}], ""),
        ({}, [{"license": "ODbL-1.0"}, {}], ""),
        ({"attribution": "Survey"}, [{"license": "CC0-1.0"}], "Survey"),
        ({"links": [{"rel": "license", "href": 5}, 7]}, [], ""),
    ],
)
def test_a_licence_is_stated_as_text_or_link_or_by_all_collections(
    value: JsonObject, parts: list[JsonObject], licence: str
) -> None:
    assert licence_in(value, url("http://a.example/"), parts) == licence
