"""A SensorThings service is proved by the list of its entity sets and described by its data streams."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from geocrawl.detect import Detector
from geocrawl.model import Failure, Kind, Page, Verdict
from geocrawl.probe.registry import declarations, probe_of
from tests.support.pages import page, read, url

DETECTOR = Detector(declarations())
ROOT = "https://sensors.example.org/FROST-Server/v1.1"
SETS = [{"name": name, "url": f"{ROOT}/{name}"} for name in ("Things", "Locations", "Datastreams", "Observations")]
LANDING = json.dumps(
    {"value": SETS, "serverSettings": {"conformance": ["http://www.opengis.net/spec/iot_sensing/1.1/req/datamodel"]}}
)
STREAMS = json.dumps(
    {"value": [{"name": "Level of the Rhine", "description": "every 15 min"}, {"name": "Temperature"}]}
)


def interview(answers: Mapping[str, Page | Failure]) -> tuple[Verdict, list[str]]:
    """Hold the interview with answers by their addresses; all else is forbidden."""
    asked: list[str] = []
    conversation = probe_of(Kind.SENSORTHINGS).interview(DETECTOR.candidate_at(url(ROOT), Kind.SENSORTHINGS))
    try:
        ask = next(conversation)
        while True:
            asked.append(ask.url.address)
            ask = conversation.send(answers.get(asked[-1], replace(page("no", "text/plain", asked[-1]), status=403)))
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict, asked


@pytest.mark.parametrize(
    "path",
    [
        "/FROST-Server/v1.1",
        "/frost/v1.0/",
        "/sta/v1.1/Things",
        "/FROST-Server/v1.1/Datastreams(7)/Observations",
        "/api/v1.1/Things(1)",
    ],
)
def test_an_address_of_a_part_leads_to_the_service(path: str) -> None:
    found = DETECTOR.of_url(url(f"https://sensors.example.org{path}"))
    assert found is not None and found.endpoint.kind is Kind.SENSORTHINGS
    assert found.endpoint.key.endswith(("v1.0", "v1.1"))


@pytest.mark.parametrize("path", ["/static/v1.1/app.js", "/state/v1.1/", "/api/v1.1/users", "/v1.1"])
def test_other_versioned_addresses_are_none(path: str) -> None:
    assert DETECTOR.of_url(url(f"https://www.example.org{path}")) is None


def test_the_entity_sets_prove_a_service_and_its_data_streams_describe_it() -> None:
    streams = f"{ROOT}/Datastreams?$top=100&$select=name,description"
    verdict, asked = interview(
        {ROOT: page(LANDING, "application/json", ROOT), streams: page(STREAMS, "application/json", streams)}
    )
    assert (verdict.status, verdict.reason) == ("valid", "ok") and verdict.service is not None
    assert asked == [ROOT, streams]
    assert verdict.service.version == "1.1"
    assert [layer.name for layer in verdict.service.layers] == ["Level of the Rhine", "Temperature"]


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        ('{"value": [{"name": "Things", "url": "x"}]}', "application/json", "not-capabilities"),
        ('{"value": [1, null, {"name": 5}], "serverSettings": 3}', "application/json", "not-capabilities"),
        ("<!DOCTYPE html><title>Sensors</title>", "text/html", "html"),
        ('{"type": "FeatureCollection", "features": []}', "application/json", "not-capabilities"),
    ],
)
def test_other_answers_are_refused(body: str, content_type: str, reason: str) -> None:
    verdict, asked = interview({ROOT: page(body, content_type, ROOT)})
    assert (verdict.status, verdict.reason, len(asked)) == ("invalid", reason, 1)


def test_a_service_whose_streams_are_forbidden_is_a_service() -> None:
    verdict, _ = interview({ROOT: page(LANDING, "application/json", ROOT)})
    assert verdict.status == "valid" and verdict.service is not None and verdict.service.layers == ()


def test_a_page_that_lists_the_entity_sets_is_a_candidate() -> None:
    document = read(LANDING, "application/json", ROOT)
    (found, *_) = DETECTOR.candidates(document)
    assert found[0].endpoint.kind is Kind.SENSORTHINGS
