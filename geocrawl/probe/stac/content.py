"""Check the content of a STAC: request one item by the catalogue's links (STAC API 1.0, Item Search; STAC 1.0).

An API is searched; a catalogue in files is followed from child to child until a document links to an item.
"""

from __future__ import annotations

from geocrawl.formats.json import JsonObject
from geocrawl.model import ContentOutcome, Endpoint, Failure, Kind, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.attempts import Attempts
from geocrawl.probe.content.judge import judge_features
from geocrawl.probe.json.answer import json_of
from geocrawl.probe.json.links import linked
from geocrawl.urls import with_parameters

MAX_REQUESTS = 4
_CONTENT = ("search", "items", "item")
_DEEPER = ("child", "data")


class StacContentCheck:
    """Checks STAC catalogues and APIs for content by one item (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 1) -> None:
        """Make a check that follows one path to one item, whatever `layers` is."""

    @property
    def kind(self) -> Kind:
        return Kind.STAC

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Follow the catalogue's links to an item. Four requests at most."""
        attempts = Attempts()
        url, name = endpoint.url, service.title
        for _ in range(MAX_REQUESTS):
            answer = yield Ask(url, Purpose.MAP)
            value = json_of(answer) or {}
            base = answer.final if isinstance(answer, Page) else answer.url
            following = _following(value, base) if _is_catalogue(value) else None
            if following is None or following == url:
                attempts.add(name, "", url, answer, _look(answer, value))
                break
            url = following
        return attempts.report(endpoint)


def _is_catalogue(value: JsonObject) -> bool:
    return value.get("type") not in ("Feature", "FeatureCollection")


def _following(value: JsonObject, base: Url) -> Url | None:
    """Return the address of the next document on the path to an item; None where the catalogue ends."""
    for rel in _CONTENT:
        if (url := linked(value, base, (rel,))) is not None:
            return url if rel == "item" else with_parameters(url, {"limit": "1"})
    found = linked(value, base, _DEEPER)
    listed = value.get("collections")
    if found is None and isinstance(listed, list) and listed and isinstance(listed[0], dict):
        found = linked(listed[0], base, _CONTENT)
    return found


def _look(answer: Page | Failure, value: JsonObject) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail) of the last document: an item, or a catalogue that leads to none."""
    if value.get("stac_version") and _is_catalogue(value):
        return ContentOutcome.BLANK, "a catalogue without items"
    return judge_features(answer)
