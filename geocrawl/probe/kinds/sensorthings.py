"""Probe OGC SensorThings 1.0 and 1.1 (OGC 15-078r6, 18-088): request the resource path, then names of data streams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from geocrawl.formats.json import MAX_ITEMS, JsonObject, line_of, object_of, objects, text_of
from geocrawl.model import Candidate, Item, Kind, Layer, Page, Service, Status
from geocrawl.model.kinds import KindDeclaration, PathForm
from geocrawl.ports import Ask, Interview
from geocrawl.probe.answer import Classification
from geocrawl.probe.interview import Question, run
from geocrawl.probe.json_answers import examine_json, json_of
from geocrawl.urls import below, with_parameters

_SETS = frozenset({"Things", "Datastreams", "Observations"})
"""Entity sets that every service has (OGC 15-078r6, 8.2)."""
_STREAMS = 100


def is_sensorthings(value: Mapping[str, Any]) -> bool:
    """Return whether an object lists a service's entity sets, each with its name and address (OGC 15-078r6, 9.2.1)."""
    listed = [item for item in objects(value.get("value"))[:MAX_ITEMS] if line_of(item.get("url"))]
    return {line_of(item.get("name")) for item in listed} >= _SETS


KIND = KindDeclaration(
    kind=Kind.SENSORTHINGS,
    name="OGC SensorThings API",
    proof="the list of its entity sets: Things, Datastreams, Observations",
    items=("data stream", "data streams"),
    paths=(
        PathForm(
            name="SensorThings: a version beneath a path that names it (FROST and others)",
            hint="/v1.",
            path=r"/(?:[^/]*(?:frost|sensorthings)[^/]*|sta)(?:/[^/]+)?/v1\.[01](?:/[a-z]+(?:\([^/]*\))?)*/?$",
            example="https://sensors.example.org/FROST-Server/v1.1",
        ),
        PathForm(
            name="SensorThings: an entity set",
            hint="/v1.",
            path=r"/v1\.[01]/(?:things|datastreams|observedproperties|featuresofinterest|historicallocations)(?:\(|/?$)",
            example="https://sensors.example.org/api/v1.1/Datastreams",
        ),
    ),
    keys=(frozenset({"value", "serverSettings"}),),
    is_document=is_sensorthings,
    standard="http://www.opengis.net/spec/iot_sensing/1.1",
    media_type="application/json",
)


def read_sensorthings(page: Page, value: JsonObject) -> Classification | None:
    """Return the service whose entity sets an answer lists; None for any other document."""
    if not is_sensorthings(value):
        return None
    version = re.search(r"/v(1\.[01])(?:/|$)", page.final.address.partition("?")[0])
    extensions = object_of(value.get("serverSettings")).get("conformance")
    formats = (
        ("application/json", "application/geo+json") if "geojson" in str(extensions).lower() else ("application/json",)
    )
    return Classification(
        "ok", "", Service(Kind.SENSORTHINGS, version[1] if version else "", page.final.host, formats=formats)
    )


def _streams(value: JsonObject | None) -> tuple[Layer, ...]:
    """Return the data streams of an answer, by their names."""
    listed = objects(value.get("value"))[:_STREAMS] if value is not None else []
    named = ((line_of(item.get("name")), text_of(item.get("description"))) for item in listed)
    return tuple(Layer(name, name, abstract, item=Item.OFFERING) for name, abstract in named if name)


def interview(candidate: Candidate) -> Interview:
    """Request the entity sets, and from a valid service its first data streams. Two requests at most."""
    question = Question(candidate.endpoint.url)
    verdict = yield from run(candidate, (question,), partial(examine_json, read=read_sensorthings))
    if verdict.status is not Status.VALID or verdict.service is None:
        return verdict
    query = {"$top": str(_STREAMS), "$select": "name,description"}
    answer = yield Ask(with_parameters(below(candidate.endpoint.url, "Datastreams"), query))
    return replace(verdict, service=replace(verdict.service, layers=_streams(json_of(answer))))
