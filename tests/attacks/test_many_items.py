"""Documents of a few kilobytes, sent compressed, that have a million items: read up to a limit, which is named."""

from __future__ import annotations

import time

import pytest

from geocrawl.model import Kind
from geocrawl.probe import stream
from geocrawl.probe.registry import probes
from tests.support.interviews import interview
from tests.support.pages import read
from tests.support.samples import sampled

SHIPPED, SMALL = stream.MAX_ITEMS, stream.MAX_ITEMS // 10
"""The limit as it ships, and a smaller one: 120,000 items take five seconds."""
_CAPABILITIES = {
    Kind.WMS: b'<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name></Service>'
    b"<Capability><Layer>%s</Layer></Capability></WMS_Capabilities>",
    Kind.WFS: b'<WFS_Capabilities version="2.0.0" xmlns="http://www.opengis.net/wfs/2.0"><FeatureTypeList>%s'
    b"</FeatureTypeList></WFS_Capabilities>",
    Kind.WMTS: b'<Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0"><Contents>%s</Contents>'
    b"</Capabilities>",
}
_ITEMS = {Kind.WMS: b"<Layer/>", Kind.WFS: b"<FeatureType/>", Kind.WMTS: b"<Layer/>"}


@pytest.mark.parametrize(
    ("kind", "size", "limit"),
    sampled(
        [
            *((kind, 0, SMALL) for kind in _CAPABILITIES),
            (Kind.WMS, stream.STREAM_BYTES + 1, SMALL),
            (Kind.WMTS, 0, SHIPPED),
        ],
        *((kind, 0, SMALL) for kind in _CAPABILITIES),
    ),
)
def test_items_are_read_up_to_a_limit_that_is_named(
    kind: Kind, size: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "MAX_ITEMS", limit)
    count = limit * 6 // 5
    probe = next(each for each in probes() if each.kind is kind)
    item = _ITEMS[kind].ljust(-(-size // count))  # white space makes a document large without more items
    verdict = interview(probe, _CAPABILITIES[kind] % (item * count), "text/xml")
    assert verdict.service is not None
    assert len(verdict.service.layers) <= limit
    assert [each.code for each in verdict.deviations].count("over-limit") == 1


def test_an_answer_of_a_catalogue_has_a_bounded_number_of_graphs() -> None:
    graph = b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
    body = b"<GetRecordsResponse><SearchResults>" + graph * 100_000 + b"</SearchResults></GetRecordsResponse>"
    started = time.process_time()
    read(body, "text/xml")
    assert time.process_time() - started < 5, "100,000 graphs take 10 s"
