"""Check the content of a CSW: request one record by GetRecords (OGC 07-006r1, 10.8; 12-176r7, 7.3).

The request is for Dublin Core, which every catalogue has to support, and if that fails for ISO 19139.
"""

from __future__ import annotations

from geocrawl.formats.elements import attribute, child, local_name
from geocrawl.formats.xml_reader import read_xml
from geocrawl.model import ContentOutcome, Endpoint, Failure, Kind, Page, Purpose, Service
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.answer import refusal
from geocrawl.probe.content.attempts import Attempts
from geocrawl.probe.interview import is_file
from geocrawl.urls import get_records_url, with_parameters
from geocrawl.urls.records import ISO_19139

_ONE = {"maxRecords": "1", "elementSetName": "brief"}
_SCHEMAS = {"csw:Record": "", "gmd:MD_Metadata": ISO_19139}


class CswContentCheck:
    """Checks CSW for content by one record (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 1) -> None:
        """Make a check that requests one record, whatever `layers` is: a catalogue has no list of contents."""

    @property
    def kind(self) -> Kind:
        return Kind.CSW

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request a record in Dublin Core, and from a catalogue that refuses this in the other schema."""
        attempts = Attempts()
        if is_file(endpoint.url):  # a file answers no requests
            return attempts.report(endpoint)
        for name, schema in _SCHEMAS.items():
            asked = get_records_url(endpoint.url, version=service.version, schema=schema)
            url = with_parameters(asked, _ONE)
            answer = yield Ask(url, Purpose.MAP)
            attempts.add(name, "", url, answer, judge_record(answer))
            if attempts.is_enough or attempts.made[-1].outcome is ContentOutcome.BLANK:
                break
        return attempts.report(endpoint)


def judge_record(answer: Page | Failure) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail): OK for one record or more, BLANK for an empty catalogue."""
    if (refused := refusal(answer)) is not None or isinstance(answer, Failure):
        return refused or (ContentOutcome.HTTP_ERROR, "")
    root = read_xml(answer.body, answer.headers.get("content-type", "")).root
    if root is None or local_name(root) != "GetRecordsResponse":
        named = f"XML with the root {local_name(root)}" if root is not None else f"no XML: {answer.content_type}"
        return ContentOutcome.NOT_AN_IMAGE, named[:200]
    results = child(root, "SearchResults")
    count = sum(1 for record in results if local_name(record)) if results is not None else 0
    matched = attribute(results, "numberOfRecordsMatched") if results is not None else ""
    return (
        (ContentOutcome.OK, f"{count} of {matched or '?'} records"[:200])
        if count
        else (ContentOutcome.BLANK, "no records")
    )
