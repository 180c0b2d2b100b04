"""RDF in its four forms: whole documents, whatever their length, and all statements but the broken one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import BNode, Graph, Literal, Namespace, URIRef

from geocrawl.page.document import PageReader
from geocrawl.page.rdf import looks_like_turtle, read_turtle
from tests.page.records import following, kinds, named
from tests.support.pages import page, read, url

ADDRESS = "http://d.example/catalog"
TYPES = {"turtle": "text/turtle", "nt": "application/n-triples", "xml": "application/rdf+xml", "json-ld": "text/json"}
DCAT, DCT = Namespace("http://www.w3.org/ns/dcat#"), Namespace("http://purl.org/dc/terms/")
HYDRA = Namespace("http://www.w3.org/ns/hydra/core#")
PREFIXES = f"@prefix dcat: <{DCAT}> .\n@prefix dct: <{DCT}> .\n@prefix hydra: <{HYDRA}> .\n"
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=12)


def catalogue(titles: list[str]) -> Graph:
    """A graph of data sets with these titles, each with a WMS; every second distribution is a blank node."""
    graph = Graph()
    for number, title in enumerate(titles):
        dataset = URIRef(f"http://d.example/{number}")
        distribution = BNode() if number % 2 else URIRef(f"http://d.example/{number}/r")
        graph.add((dataset, DCT.title, Literal(title, lang="de")))
        graph.add((dataset, DCAT.distribution, distribution))
        graph.add((distribution, DCT["format"], Literal("WMS")))
        graph.add((distribution, DCAT.accessURL, URIRef(f"http://m.example/s{number}/wms")))
    return graph


@pytest.mark.parametrize("form", TYPES)
@given(titles=st.lists(_TEXTS | st.sampled_from(['"', '"""', "'''", "\\", "a\\", 'x"', ". ;", "# no"]), max_size=4))
def test_each_form_is_read_as_rdflib_writes_it(form: str, titles: list[str]) -> None:
    text = catalogue(titles).serialize(format=form)
    document = read(text, TYPES[form], ADDRESS)
    assert kinds(document) == {("wms", f"http://m.example/s{number}/wms") for number in range(len(titles))}
    for number, title in enumerate(titles):
        assert named(document, f"/s{number}/").anchor == " ".join(f"{title} WMS".split())


@pytest.mark.parametrize("form", TYPES)
def test_a_catalogue_of_any_length_is_read_whole_and_leads_on(form: str) -> None:
    graph = catalogue(["Lakes " * 30] * 2_000)
    graph.add((URIRef(ADDRESS), HYDRA.next, URIRef(f"{ADDRESS}?page=2")))
    text = graph.serialize(format=form)
    assert len(text) > 600_000
    document = read(text, TYPES[form], ADDRESS)
    assert (len(kinds(document)), following(document)) == (2_000, [f"{ADDRESS}?page=2"])


def test_the_next_page_is_kept_where_links_are_cut() -> None:
    text = catalogue(["Lakes"] * 50).serialize(format="nt") + f"<{ADDRESS}> <{HYDRA}next> <{ADDRESS}?page=2> .\n"
    document = PageReader(max_links=10).read(page(text, "application/n-triples", ADDRESS), depth=0)
    assert (len(document.links), following(document)) == (10, [f"{ADDRESS}?page=2"])


BROKEN = {
    "a stray word": 'dcat:broken oops "x .',
    "an address with spaces": "<http://d.example/b> dcat:accessURL <http://a b/ http://c> .",
    "an unknown prefix": 'nope:b nope:c "d" .',
    "an open bracket": "<http://d.example/b> dcat:distribution [ dct:title 'x' .",
    "an open text": '<http://d.example/b> dct:title "open\n.',
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_statement_loses_itself_alone(broken: str) -> None:
    good = "<http://d.example/{0}> dcat:accessURL <http://m.example/s{0}/wms> ; dct:format 'WMS' .\n"
    document = read(f"{PREFIXES}{good.format(1)}{broken}\n{good.format(2)}", "text/turtle", ADDRESS)
    assert kinds(document) == {("wms", "http://m.example/s1/wms"), ("wms", "http://m.example/s2/wms")}


def test_turtle_as_people_write_it() -> None:
    text = PREFIXES.replace("@prefix dct:", "PREFIX dct:").replace("terms/> .", "terms/>") + (
        "@base <http://m.example/> .\n"
        "dcat:c a dcat:Catalog ; # a remark with a . and a ;\n"
        "  dcat:dataset [ dct:title '''Lakes'''@en, \"See\"@de ; dct:issued \"2020-01-01\"^^<http://w/date> ;\n"
        '    dcat:distribution [ dcat:accessURL <ows> ; dct:format ( "WMS" ) ] , [ dcat:accessURL <wfs>\\u0020 ] ] .\n'
    )
    document = read(text, "text/turtle", ADDRESS)
    assert named(document, "/ows").anchor == "Lakes WMS"
    assert kinds(document) == {("wms", "http://m.example/ows")}


def test_a_first_statement_of_whole_iris_is_n_triples() -> None:
    assert looks_like_turtle(f'# made today\n<{ADDRESS}> <{DCT}title> "x" .', "text/plain")
    assert looks_like_turtle(f"_:b <{DCAT}accessURL> <http://m.example/> .", "")
    assert not looks_like_turtle('<p> <b> "x"</b>', "text/turtles")
    assert not looks_like_turtle("An <a> <b> of text", "text/plain")


def test_what_a_context_calls_an_address_is_one() -> None:
    data = {
        "@context": {
            "id": "@id",
            "type": "@type",
            "zugang": {"@id": "dcat:accessURL", "@type": "@id"},
            "art": "dct:format",
        },
        "@graph": [
            {"id": "http://d.example/1", "zugang": {"@set": ["http://m.example/ows"]}, "art": {"@value": "WMS"}}
        ],
    }
    assert kinds(read(json.dumps(data), "application/ld+json", ADDRESS)) == {("wms", "http://m.example/ows")}


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "( " * 200_000,
        '"""' + '\\"""' * 50_000,
        "'" * 200_001,
        "<" * 200_000,
        "a:b." * 100_000,
        "\\" * 200_001,
    ],
)
def test_hostile_turtle_costs_no_more_than_its_length(text: str) -> None:
    """With a cost by the square of the length it would not end within the time that pytest gives a test."""
    read_turtle(text, url(ADDRESS))


@given(st.lists(st.sampled_from([*"<>[](){}.;,\"'\\#@^", "a", " ", "\n", "@prefix ", "x:y", "<http://a/>", '"""'])))
def test_any_soup_of_turtle_is_read(soup: list[str]) -> None:
    read_turtle("".join(soup), url(ADDRESS))
