"""Long documents: read item by item, the same as a short one read whole, and bounded whatever their bytes."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from geocrawl.formats.xml import Cut, child, line_of, text_of
from geocrawl.model import Page
from geocrawl.probe import stream
from geocrawl.probe.answer import Classification
from geocrawl.probe.kinds.wms.probe import FORM
from geocrawl.probe.ows.capabilities import examine
from geocrawl.probe.stream import NOTHING, STREAM_BYTES, Items, ItemSpec, read_items
from tests.support.answers import CAPABILITIES, page
from tests.support.samples import sampled

ALL_LABELS = ("wms", "wfs", "wmts", "wcs", "csw", "exception", "broken", "other")
GOOD = CAPABILITIES.encode()


def name_of(element: etree._Element, around: int | None) -> tuple[str, int | None]:
    return text_of(child(element, "Name")) or line_of(child(element, "Title")), around


LAYERS = ItemSpec(frozenset({"Layer"}), frozenset({"Capability"}), name_of)


def read(body: bytes, content_type: str = "text/xml", *, cut: bool = False) -> Items[tuple[str, int | None]]:
    return read_items(body, content_type, LAYERS, cut=cut, above=0)


def both(answer: Page) -> tuple[Classification, Classification]:
    return examine(answer, FORM), examine(answer, FORM, above=0)


@pytest.mark.shared
@pytest.mark.parametrize("label", ALL_LABELS)
def test_every_recorded_answer_streamed_gives_what_it_gives_whole(shared: Path, label: str) -> None:
    """Titles, layers, reference systems, boxes and all else that is kept; reasons and deviations too."""
    for file in sorted((shared / "corpus" / "documents" / label).iterdir()):
        whole, streamed = both(page(file.read_bytes()))
        assert whole.service == streamed.service, file.name
        assert whole.reason == streamed.reason, file.name
        assert [each.code for each in whole.deviations] == [each.code for each in streamed.deviations], file.name


@pytest.mark.parametrize(
    "body",
    [
        GOOD,
        b"\n\n" + GOOD,
        b"Content-Type: text/xml\r\n\r\n" + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        GOOD.replace(b"Fees>none<", b"Fees>a & b &nbsp; &eacute;<"),
        GOOD.replace(b"Gravel", b"Gr\x02avel &#7;"),
        GOOD.replace(b' xmlns:xlink="http://www.w3.org/1999/xlink"', b""),
        GOOD.replace(b"<", b"<w:").replace(b"<w:/", b"</w:").replace(b"<w:?", b"<?"),
        GOOD.replace(b"</WMS_Capabilities>", b""),
        GOOD + b"<html><p>Advertisement</html>",
        CAPABILITIES.encode("latin-1", "replace"),
        CAPABILITIES.replace("UTF-8", "UTF-16").encode("utf-16"),
        CAPABILITIES.replace("UTF-8", "UTF-16").replace("none<", "a & b<").encode("utf-16"),
        CAPABILITIES.replace("Härjedalen", "全国道路地图服务").encode("gb18030"),
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY who "Road Office">]>' + GOOD[39:].replace(b"Roads of", b"&who;"),
        GOOD[:-150],
        CAPABILITIES[:-150].encode("utf-16"),
        CAPABILITIES.replace("</WMS_Capabilities>", "").encode("utf-16"),
        b"",
        b"<",
        b"no markup at all",
        b"<!DOCTYPE html><html><p>A page<br></html>",
    ],
)
def test_faults_are_read_over_as_in_a_short_document(body: bytes) -> None:
    whole, streamed = both(page(body))
    assert whole.service == streamed.service
    assert whole.reason == streamed.reason
    assert {each.code for each in whole.deviations} == {each.code for each in streamed.deviations}


def test_items_come_in_document_order_with_the_group_around_them() -> None:
    assert read(GOOD).items == (("All", None), ("major", 0), ("Minor", 0), ("gravel", 2))


@pytest.mark.parametrize("namespace", ["", "http://www.opengis.net/wms", "a}b", "{*}", "*"])
@pytest.mark.parametrize("prefix", ["", "wms:"])
def test_items_are_found_in_any_namespace_and_behind_an_undeclared_prefix(namespace: str, prefix: str) -> None:
    item = f"<{prefix}Layer><Name>%s</Name>%s</{prefix}Layer>"
    inner = item % ("roads", "")
    body = (
        f'<Capabilities xmlns="{namespace}"><Capability>{item % ("maps", inner)}</Capability></Capabilities>'.encode()
    )
    for above in (0, STREAM_BYTES):
        assert read_items(body, "text/xml", LAYERS, above=above).items == (("maps", None), ("roads", 0)), above


def test_the_root_of_a_streamed_document_is_without_its_items() -> None:
    root = read(GOOD).reading.root
    assert root is not None
    assert line_of(child(root, "Service", "Title")) == "Roads of Härjedalen"
    assert child(root, "Capability", "Layer") is None


def test_elements_of_an_items_name_elsewhere_are_none() -> None:
    body = GOOD.replace(b"<Fees>", b"<Layer><Name>stray</Name></Layer><Fees>")
    assert [name for name, _ in read(body).items] == ["All", "major", "Minor", "gravel"]
    assert [name for name, _ in read_items(body, "", LAYERS).items] == ["All", "major", "Minor", "gravel"]


def test_a_body_that_ends_at_the_limit_gives_its_whole_layers_and_a_note() -> None:
    begun = GOOD.index(b"gravel") + 3
    finding = examine(replace(page(GOOD[:begun]), cut=True), FORM)
    assert finding.service is not None
    assert [layer.title for layer in finding.service.layers] == ["All", "Major roads", "Minor"]
    (note,) = (each for each in finding.deviations if each.code == "over-limit")
    assert note.detail == f"longer than the limit of {begun} bytes; 3 items read"


def test_a_body_that_ends_at_the_limit_before_any_layer_is_rejected() -> None:
    finding = examine(replace(page(GOOD[: GOOD.index(b"<Layer>")]), cut=True), FORM)
    assert (finding.service, finding.reason) == (None, "over-limit")


def test_a_long_document_cut_off_within_its_layers_is_truncated() -> None:
    reading = read(GOOD[: GOOD.index(b"gravel")]).reading
    assert reading.cut is Cut.INSIDE


def long_layers(count: int, chars: int = 400) -> bytes:
    head, tail = GOOD.split(b"</Layer></Capability>")
    layer = b"<Layer><Name>n%d</Name><Title>Layer %d</Title><Abstract>" + b"x" * chars + b"</Abstract></Layer>"
    return head + b"".join(layer % (n, n) for n in range(count)) + b"</Layer></Capability>" + tail


def test_a_wms_of_more_than_8_mb_is_whole_if_all_its_layers_have_ended() -> None:
    body = long_layers(900, chars=10_000)
    assert len(body) > STREAM_BYTES
    finding = examine(page(body[: body.rindex(b"</Capability>")]), FORM)
    assert finding.service is not None and len(finding.service.layers) == 904
    assert "truncated-tail" in {each.code for each in finding.deviations}
    assert examine(page(body[: body.rindex(b"<Layer>")]), FORM).reason == "truncated", "the group has not ended"


def test_memory_does_not_grow_with_the_number_of_layers() -> None:
    """Of what Python holds; libxml2's part is measured by the Show `big`."""
    body = long_layers(20_000)
    assert len(body) > STREAM_BYTES
    tracemalloc.start()
    try:
        found = read_items(body, "text/xml", LAYERS)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.items) == 20_004
    assert found.items[-1] == ("n19999", 0)
    assert peak < len(body)


@pytest.fixture
def small_tree(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lower the bound of a tree without items from 16 to 2 MiB, and return it: 16 MiB of elements take seconds."""
    monkeypatch.setattr(stream, "_TREE_BYTES", 2 * 1024 * 1024)
    return 2 * 1024 * 1024


def is_bounded(body: bytes) -> bool:
    return "over-limit" in {each.code for each in read(body).reading.deviations}


@pytest.mark.parametrize("middle", sampled([b"<a>x</a>", b"<Layer>", b"x", b"&a;", b"<q:a/>"], b"<Layer>", b"x"))
def test_a_long_document_without_end_is_read_to_a_bound(small_tree: int, middle: bytes) -> None:
    body = GOOD[: GOOD.index(b"<Fees>")] + middle * (3 * small_tree // 2 // len(middle))
    assert examine(page(body), FORM, above=0).service is None
    assert is_bounded(body)


def test_the_bound_of_a_long_document_as_it_ships() -> None:
    body = GOOD[: GOOD.index(b"<Fees>")] + b"x" * 17_000_000
    assert is_bounded(body) and not is_bounded(body[:15_000_000])


def test_a_long_document_of_another_kind_is_told_by_its_root(small_tree: int) -> None:
    head = b"<wfs:WFS_Capabilities xmlns:wfs='http://www.opengis.net/wfs'>"
    body = head + b"<a>x</a>" * (3 * small_tree // 2 // 8)
    finding = examine(page(body), FORM, above=0)
    assert finding.reason == "other-kind" and is_bounded(body)


@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_bytes_make_it_fail(body: bytes, content_type: str) -> None:
    read(body, content_type)
    read(b"<WMS_Capabilities>" + body, content_type, cut=True)
    read_items(body, content_type, NOTHING, above=0)


@given(st.data())
@settings(max_examples=100)
def test_no_damage_to_a_document_makes_it_fail(data: st.DataObject) -> None:
    body = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=20))
    found = read(bytes(body), cut=data.draw(st.booleans()))
    assert all(around is None or around < index for index, (_, around) in enumerate(found.items))


@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_items_above_their_number_are_left_out(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(stream, "MAX_ITEMS", 3)
    layers = "".join(f"<Layer><Name>{number}</Name></Layer>" for number in range(count))
    found = read(f"<C><Capability>{layers}</Capability></C>".encode())
    assert [name for name, _ in found.items] == [f"{number}" for number in range(min(count, 3))]
    assert ("over-limit" in [each.code for each in found.reading.deviations]) is (count > 3)
