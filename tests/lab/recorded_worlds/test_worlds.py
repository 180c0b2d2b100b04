"""Reading a recorded web, and what is said of one that is not whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import UsageError
from geocrawl.lab.recorded_worlds.addresses import key_of, normalised_target, read_query
from geocrawl.lab.recorded_worlds.warc import kind_of_answer
from geocrawl.lab.recorded_worlds.world import World


def test_a_world_knows_its_pages_services_and_seeds(small: Path) -> None:
    world = World(small)
    assert world.pages == 6
    assert [service.id for service in world.services] == ["wms-1", "wms-2", "wms-3", "wms-4"]
    assert [service.reachable for service in world.services] == [True, True, True, False]
    assert world.seeds == ("http://www.small.example/",)
    stored = world.stored("www.small.example/moved.html")
    assert stored is not None and (stored.status, ("Location", "/target.html")) == (302, stored.headers[-1])


@pytest.mark.parametrize("name", ["world.json", "pages.warc.gz", "services.jsonl", "truth.csv"])
def test_a_folder_without_one_of_the_files_is_named_with_what_it_lacks(small: Path, name: str) -> None:
    (small / name).unlink()
    with pytest.raises(UsageError, match=name):
        World(small)


def test_a_warc_cut_in_the_middle_of_a_record_is_refused(small: Path) -> None:
    path = small / "pages.warc.gz"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(UsageError, match="cut off"):
        World(small)


def test_a_warc_that_ends_a_record_early_is_refused_by_the_count(small: Path) -> None:
    meta = small / "world.json"
    meta.write_text(meta.read_text().replace('"records": 8', '"records": 9'))
    with pytest.raises(UsageError, match="8 of the 9"):
        World(small)


def test_a_file_that_is_no_warc_is_refused(small: Path) -> None:
    (small / "pages.warc.gz").write_bytes(gzip.compress(b"hello, this is not a WARC file\n" * 20))
    with pytest.raises(UsageError, match="no WARC"):
        World(small)


def test_a_broken_line_of_services_is_named(small: Path) -> None:
    path = small / "services.jsonl"
    path.write_text(path.read_text() + "{}\n")
    with pytest.raises(UsageError, match="line 5"):
        World(small)


def test_a_missing_document_is_named(small: Path) -> None:
    (small / "documents" / "d.xml.gz").unlink()
    world = World(small)
    with pytest.raises(UsageError, match=r"d\.xml\.gz"):
        world.document(world.services[0])


def test_an_address_has_one_key_however_it_is_spelt() -> None:
    assert key_of("http://User@WWW.Small.Example.:80/a%7eb?q=%c3%a9#part") == "www.small.example/a~b?q=%C3%A9"
    assert key_of("http://h.example?x=1") == "h.example/?x=1"
    assert key_of("http://h.example:8080") == "h.example:8080/"
    assert read_query("/p?a=1+2&&b=%20&c") == [("a", "1 2"), ("b", " "), ("c", "")]


@given(st.text(max_size=40))
def test_an_even_target_stays_even(text: str) -> None:
    once = normalised_target("/" + text)
    assert normalised_target(once) == once
    assert once.isascii()


@pytest.mark.parametrize(
    ("address", "content_type", "head", "kind"),
    [
        ("http://h.example/robots.txt", "text/plain", b"User-agent: *", "robots"),
        ("http://h.example/feed", "text/html", b'<?xml version="1.0"?><rss version="2.0">', "sitemap"),
        ("http://h.example/sitemap_1.xml.gz", "application/x-gzip", b"\x1f\x8b", "sitemap"),
        ("http://h.example/a.js", "text/html", b"var a", "asset"),
        ("http://h.example/a.png", "image/png", b"\x89PNG", "asset"),
        ("http://h.example/doc", "application/octet-stream", b"<!DOCTYPE html><html>", "page"),
        ("http://h.example/record.xml", "text/xml", b"<gmd:MD_Metadata>", "page"),
        ("http://h.example/data.json", "application/json", b"{}", "page"),
    ],
)
def test_what_an_answer_counts_as(address: str, content_type: str, head: bytes, kind: str) -> None:
    assert kind_of_answer(address, content_type, head) == kind
