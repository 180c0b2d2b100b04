"""Check the content of a WFS: request one feature of a type by GetFeature (WFS 1.0.0, 9.1; 1.1.0, 9.2; 2.0.2, 11.2).

The request names no format, because the default of nearly all servers is GML. An empty collection only shows that the
server answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from geocrawl.formats.elements import local_name
from geocrawl.formats.xml_reader import read_xml
from geocrawl.model import ContentOutcome, Endpoint, Failure, Item, Kind, Page, Purpose, Service
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.answer import refusal
from geocrawl.probe.content.attempts import Attempts, content_url, spread
from geocrawl.probe.content.judge import judge_features
from geocrawl.probe.interview import is_file

_MEMBERS = frozenset({"member", "featureMember", "featureMembers"})
"""Elements of GML 3.2, 2.1 and 3.1 for members of a collection; the last contains several features."""


class WfsContentCheck:
    """Checks WFS for content by one feature (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 3) -> None:
        """Try at most `layers` feature types of a service."""
        self._layers = layers

    @property
    def kind(self) -> Kind:
        return Kind.WFS

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request a feature of one type after another until one is delivered."""
        attempts = Attempts()
        named = [layer for layer in service.layers if layer.name and layer.item is Item.FEATURE_TYPE]
        if is_file(endpoint.url):  # a file answers no requests
            named = []
        for layer in spread(named, self._layers):
            url = content_url(endpoint.url, _parameters(service.version, layer.name))
            if url is None:
                continue
            answer = yield Ask(url, Purpose.MAP)
            attempts.add(layer.name, "", url, answer, judge_feature(answer))
            if attempts.is_enough:
                break
        return attempts.report(endpoint)


def _parameters(version: str, name: str) -> Mapping[str, str]:
    asked = {"SERVICE": "WFS", "VERSION": version, "REQUEST": "GetFeature"}
    if version.startswith("2"):
        return {**asked, "TYPENAMES": name, "COUNT": "1"}
    return {**asked, "TYPENAME": name, "MAXFEATURES": "1"}


def judge_feature(answer: Page | Failure) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail): OK for one feature or more, BLANK for a collection without any, in GML or GeoJSON."""
    if (refused := refusal(answer)) is not None or isinstance(answer, Failure):
        return refused or (ContentOutcome.HTTP_ERROR, "")
    if answer.body.lstrip()[:1] == b"{":
        return judge_features(answer)
    root = read_xml(answer.body, answer.headers.get("content-type", "")).root
    if root is None:
        return ContentOutcome.NOT_AN_IMAGE, f"no XML: {answer.content_type or 'no Content-Type'}"
    if not local_name(root).endswith("Collection"):
        return ContentOutcome.NOT_AN_IMAGE, f"XML with the root {local_name(root)}"[:200]
    count = _count(root)
    return (ContentOutcome.OK, f"{count} features") if count else (ContentOutcome.BLANK, "no features")


def _count(collection: etree._Element) -> int:
    """Count features in a collection; an empty member is none."""
    return sum(sum(1 for each in member if local_name(each)) for member in collection if local_name(member) in _MEMBERS)
