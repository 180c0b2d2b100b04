"""Pages, documents and words of made webs, each by itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from geocrawl.lab.made_worlds.design import render
from geocrawl.lab.made_worlds.mixture import DESIGNS, draw
from geocrawl.lab.made_worlds.parts import Anchor, Facts, Listing, Page, Prose
from geocrawl.lab.made_worlds.planner import Planner
from geocrawl.lab.made_worlds.vocabulary import LANGUAGES, languages, themes, vocabularies
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Page as FetchedPage
from geocrawl.page.document import PageReader
from geocrawl.urls import read_url

ROOTS = {
    "wms": ("WMS_Capabilities", "WMT_MS_Capabilities"),
    "wfs": ("WFS_Capabilities",),
    "wmts": ("Capabilities",),
    "wcs": ("Capabilities",),
    "csw": ("Capabilities",),
}


def test_every_document_is_well_formed_and_of_its_kind(folder: Path) -> None:
    world = World(folder)
    for service in world.services:
        if service.document is None:
            assert not service.valid
            continue
        data = gzip.decompress((folder / "documents" / service.document).read_bytes())
        if service.kind in ROOTS:
            assert etree.QName(etree.fromstring(data)).localname in ROOTS[service.kind]
        else:
            value = json.loads(data)
            assert value["layers"] if service.kind == "arcgis" else value["links"]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("code", LANGUAGES)
def test_every_design_says_and_links_what_the_page_plans_in_every_language_and_charset(design: str, code: str) -> None:
    planner = Planner(1, "mixed", draw(1, "mixed", ()))
    for manner, charset in enumerate(languages()[code].charsets):
        site = planner.site(vocabularies()["water"], code=code)
        site.design, site.manner, site.charset, site.charset_sent = design, manner * 7 + 1, charset, False
        there = Anchor(site.at("/a/b?x=1&copy=2"), site.label("next"))
        away = Anchor("http://other.example/", site.label("home"))
        facts = Facts(site.label("data"), ((site.label("theme"), (site.words.name, there)),))
        page = Page(site.at("/a/c"), site, site.words.titles[0], [Prose(2, (away,)), facts, Listing("", (there,))])
        content_type, body, targets = render(page, 1)
        url = read_url(page.address)
        assert url is not None and targets == (away.target, there.target)
        read = PageReader().read(FetchedPage(url, url, 200, {"content-type": content_type}, body, 0.0, 0.0), depth=0)
        assert page.title in read.title and site.words.name in read.text
        assert {link.url.address for link in read.links} == set(targets)


def test_every_language_says_the_same_things() -> None:
    labels = {code: set(language.labels) for code, language in languages().items()}
    assert all(names == labels["en"] for names in labels.values())
    assert all(len(language.roman) == len(language.syllables) for language in languages().values())


def test_every_theme_has_words_in_every_language() -> None:
    assert len(vocabularies()) >= 5 and len(themes()) > len(vocabularies())
    for theme in themes().values():
        assert all(len(theme.words[code].nouns) >= 10 and len(theme.words[code].titles) >= 8 for code in LANGUAGES)


@settings(max_examples=200)
@given(st.integers(0, 10**9), st.sampled_from(LANGUAGES), st.floats(0, 1))
def test_no_slot_of_a_sentence_stays_open(seed: int, code: str, jargon: float) -> None:
    planner = Planner(seed, "mixed", draw(seed, "mixed", ()))
    site = planner.site(vocabularies()["soil"], code=code, jargon=jargon)
    text = planner.writer(site).paragraph()
    assert text and "{" not in text and "}" not in text


def test_a_title_that_is_a_number_does_not_take_the_address_of_a_later_page() -> None:
    planner = Planner(1, "agency", draw(1, "agency", ()))
    site = planner.site(vocabularies()["soil"], code="ja")
    site.spoken, site.manner = False, 0
    planner.put(site, "/news/1001", "1001")
    assert planner.page(site, "news", "later").address != site.at("/news/1001")
