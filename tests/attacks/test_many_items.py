"""Documents of a few kilobytes, sent compressed, that have a million items: read up to a limit, which is named."""

from __future__ import annotations

import time

import pytest

from geocrawl.model import Kind
from geocrawl.probe import stream
from geocrawl.probe.registry import probes
from tests.support.interviews import interview
from tests.support.pages import read

COUNT = 400_000
_CAPABILITIES = {
    Kind.WMS: b'<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name></Service>'
    b"<Capability><Layer>%s</Layer></Capability></WMS_Capabilities>",
    Kind.WFS: b'<WFS_Capabilities version="2.0.0" xmlns="http://www.opengis.net/wfs/2.0"><FeatureTypeList>%s'
    b"</FeatureTypeList></WFS_Capabilities>",
    Kind.WMTS: b'<Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0"><Contents>%s</Contents>'
    b"</Capabilities>",
}
_ITEMS = {Kind.WMS: b"<Layer/>", Kind.WFS: b"<FeatureType/>", Kind.WMTS: b"<Layer/>"}


@pytest.mark.parametrize("count", [COUNT, 3 * COUNT], ids=["read whole", "streamed"])
@pytest.mark.parametrize("kind", list(_CAPABILITIES))
def test_items_are_read_up_to_a_limit_that_is_named(kind: Kind, count: int) -> None:
    probe = next(each for each in probes() if each.kind is kind)
    verdict = interview(probe, _CAPABILITIES[kind] % (_ITEMS[kind] * count), "text/xml")
    assert verdict.service is not None
    assert len(verdict.service.layers) <= stream.MAX_ITEMS
    assert [each.code for each in verdict.deviations].count("over-limit") == 1


def test_an_answer_of_a_catalogue_has_a_bounded_number_of_graphs() -> None:
    graph = b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
    body = b"<GetRecordsResponse><SearchResults>" + graph * 100_000 + b"</SearchResults></GetRecordsResponse>"
    started = time.process_time()
    read(body, "text/xml")
    assert time.process_time() - started < 5, "100,000 graphs take 10 s"
