"""Records of WARC and WAT files: their links resolved, their places kept, damage and bombs skipped."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from geocrawl.app.wiring import make_detector
from geocrawl.errors import EnvironmentFault
from geocrawl.mining.model import Find, gather
from geocrawl.mining.records import MOST_BYTES, Counts, Finder, RecordReader, members
from geocrawl.page.document import PageReader
from geocrawl.priority.models import LINKS_FILE, read_links, shipped_models
from geocrawl.priority.nearness import LinkMeasure
from tests.mining.made_warc import NAME, MadePage, member, metadata, record, wat_record, write_archive

PAGE = "https://www.example.org/geo/services.html"
WMS = "https://maps.example.org/ows?service=WMS&request=GetCapabilities"
CAPABILITIES = b"<?xml version='1.0'?><WMS_Capabilities version='1.3.0'></WMS_Capabilities>"


def mined(path: Path) -> tuple[list[Find], Counts]:
    """Return what is found in a file."""
    measure, counts = LinkMeasure(read_links(shipped_models() / LINKS_FILE)), Counts()
    reader = RecordReader(Finder(make_detector(), measure), PageReader())
    (source,) = gather([path])
    return list(reader.finds(source, counts)), counts


def wat(folder: Path, *records: bytes) -> Path:
    path = folder / "x.warc.wat.gz"
    path.write_bytes(b"".join(map(member, records)))
    return path


def about(href: str, number: int = 0, *, text: str = "", path: str = "A@/href", base: str = "") -> bytes:
    """Return a WAT record of a page with one link."""
    head = {"Base": base} if base else {}
    link = {"path": path, "url": href} | ({"text": text} if text else {})
    return wat_record(metadata(f"{PAGE}?n={number}", [link], head=head, offset=1000 + number), PAGE)


def addresses(finds: list[Find]) -> list[str]:
    return [find.url.address for find in finds]


@pytest.mark.parametrize(
    ("href", "base", "found"),
    [
        ("/ows?SERVICE=WMS&REQUEST=GetMap", "", "https://www.example.org/ows"),
        ("../geoserver/wms", "", "https://www.example.org/geoserver/wms"),
        ("geoserver/wms", "https://maps.example.net/a/", "https://maps.example.net/a/geoserver/wms"),
        ("?service=wfs&request=getfeature", "", "https://www.example.org/geo/services.html"),
        ("//maps.example.org/geoserver/wms", "", "https://maps.example.org/geoserver/wms"),
    ],
)
def test_links_of_a_wat_are_resolved_against_their_page(tmp_path: Path, href: str, base: str, found: str) -> None:
    finds, counts = mined(wat(tmp_path, about(href, base=base, text="maps")))
    assert addresses(finds) == [found]
    assert counts == Counts(records=1)
    (find,) = finds
    assert (find.page, find.text) == (f"{PAGE}?n=0", "maps")
    assert (find.place.file, find.place.offset, find.place.length) == (NAME, 1000, 4096)


def test_a_picture_of_a_map_and_a_form_are_found_and_the_form_is_named(tmp_path: Path) -> None:
    path = wat(tmp_path, about(WMS, 1, path="FORM@/action"), about(WMS.replace("maps", "img"), 2, path="IMG@/src"))
    signals = [find.candidate.evidence.signal for find in mined(path)[0] if find.candidate]
    assert signals == ["form", "query"]


def test_a_link_to_another_site_whose_text_is_about_services_is_a_page_to_begin_with(tmp_path: Path) -> None:
    other = "https://portal.example.net/start"
    finds, _ = mined(wat(tmp_path, about(other, 1, text="Geoportal and WMS"), about("/here", 2, text="Geoportal")))
    assert [(find.url.address, find.sign, find.candidate) for find in finds] == [(other, "text", None)]


def test_a_portal_begins_with_its_list_of_records(tmp_path: Path) -> None:
    finds, _ = mined(wat(tmp_path, about("https://data.example.net/dataset?res_format=WMS", text="data")))
    assert addresses(finds) == ["https://data.example.net/api/3/action/package_search?rows=100&start=0&sort=name%20asc"]
    assert finds[0].sign == "CKAN"


def test_answers_are_read_by_the_crawlers_own_reader(tmp_path: Path) -> None:
    pages = [
        MadePage(
            PAGE, f"<a href='{WMS}'>map</a><script>var u = 'https://js.example.org/geoserver/wms';</script>".encode()
        ),
        MadePage("https://docs.example.org/capabilities", CAPABILITIES, "text/xml"),
        MadePage("https://gone.example.org/", f"<a href='{WMS}'>map</a>".encode(), status=404),
    ]
    warc, about_it = write_archive(tmp_path, pages)
    finds, counts = mined(warc)
    assert {(find.url.address, find.page) for find in finds} == {
        ("https://maps.example.org/ows", PAGE),
        ("https://js.example.org/geoserver/wms", PAGE),
        ("https://docs.example.org/capabilities", "https://docs.example.org/capabilities"),
    }
    assert counts == Counts(records=4)
    offsets = {each.offset for each in members(warc, most_bytes=MOST_BYTES)}
    assert {find.place.offset for find in finds} <= offsets
    of_wat, _ = mined(about_it)
    places = {find.place for find in finds if find.page == PAGE}
    assert {find.place.offset for find in of_wat if find.page == PAGE} == {place.offset for place in places}


def test_a_file_that_is_not_compressed_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "x.wat"
    path.write_bytes(about(WMS, 1) + about("https://b.example.org/geoserver/wms", 2))
    finds, counts = mined(path)
    assert addresses(finds) == ["https://maps.example.org/ows", "https://b.example.org/geoserver/wms"]
    assert counts == Counts(records=2)


def named(number: int) -> bytes:
    return member(about(f"https://m{number}.example.org/geoserver/wms", number))


def hosts(path: Path) -> tuple[list[str], Counts]:
    finds, counts = mined(path)
    return [find.url.host.partition(".")[0] for find in finds], counts


def test_a_damaged_record_costs_no_other(tmp_path: Path) -> None:
    records = [named(number) for number in range(5)]
    broken = bytearray(records[2])
    broken[40] ^= 255
    broken[41] ^= 255
    path = tmp_path / "x.warc.wat.gz"
    path.write_bytes(b"".join([*records[:2], bytes(broken), *records[3:]]))
    assert hosts(path) == (["m0", "m1", "m3", "m4"], Counts(records=5, damaged=1))


def test_a_wrong_check_sum_and_what_is_no_json_are_damage(tmp_path: Path) -> None:
    wrong = bytearray(named(1))
    wrong[-6] ^= 255
    path = tmp_path / "x.warc.wat.gz"
    no_json = member(record("metadata", {"WARC-Target-URI": PAGE}, b'{"Envelope": '))
    deep = member(record("metadata", {"WARC-Target-URI": PAGE}, b"[" * 200_000))
    other = member(wat_record(["no", {"Envelope": 3}], PAGE))
    path.write_bytes(named(0) + bytes(wrong) + no_json + deep + other + named(2))
    assert hosts(path) == (["m0", "m2"], Counts(records=6, damaged=3))


def test_a_file_that_was_cut_off_is_read_to_its_last_whole_record(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.wat.gz"
    path.write_bytes((named(0) + named(1))[:-30])
    assert hosts(path) == (["m0"], Counts(records=2, damaged=1))


def test_a_bomb_is_skipped_in_bounded_memory(tmp_path: Path) -> None:
    bomb = member(record("metadata", {"WARC-Target-URI": PAGE}, bytes(8 * MOST_BYTES)))
    endless = member(b"WARC/1.0\r\n" + b"A: " + b"a" * (2 * MOST_BYTES))
    path = tmp_path / "x.warc.wat.gz"
    path.write_bytes(named(0) + bomb + endless + named(1))
    tracemalloc.start()
    try:
        assert hosts(path) == (["m0", "m1"], Counts(records=4, large=2))
        assert tracemalloc.get_traced_memory()[1] < 4 * MOST_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("data", [b"<html>", b"", member(b"no record"), b"PAR1"])
def test_what_is_no_archive_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    with pytest.raises(EnvironmentFault, match=r"x\.warc\.gz: "):
        mined(path)


def test_odd_metadata_has_no_effect(tmp_path: Path) -> None:
    odd = metadata(PAGE, [{"url": "http://[", "path": "A@/href"}, {"path": "A@/href"}])
    links = odd["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"]
    links["Links"] += [None, {"url": 3}, {"url": "/geoserver/wms", "text": ["x"], "path": 4}]
    odd["Container"] |= {"Offset": "x", "Filename": None}
    finds, counts = mined(wat(tmp_path, record("metadata", {}, json.dumps(odd).encode())))
    assert addresses(finds) == ["https://www.example.org/geoserver/wms"]
    assert (finds[0].place.file, finds[0].place.offset) == ("x.warc.wat.gz", 0)
    assert counts == Counts(records=1)
