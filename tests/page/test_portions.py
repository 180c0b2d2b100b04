"""What answers in other forms than CSW say of their lists: totals and identifiers of records."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from geocrawl.model import Portion
from geocrawl.page.document import PageReader
from geocrawl.urls import RECORDS
from tests.support.pages import page, read

RECORDS_AT = "http://d.example/c/collections/r/items"

RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:hydra="http://www.w3.org/ns/hydra/core#" '
    'xmlns:dcat="http://www.w3.org/ns/dcat#"><hydra:PagedCollection rdf:about="http://d.example/catalog.rdf?page=1">'
    '{}</hydra:PagedCollection><dcat:Catalog><dcat:dataset><dcat:Dataset rdf:about="http://d.example/1"/></dcat:dataset>'
    '<dcat:dataset><dcat:Dataset rdf:about="http://d.example/2"/></dcat:dataset></dcat:Catalog></rdf:RDF>'
)
TOTAL = '<hydra:totalItems rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">250</hydra:totalItems>'
TWO = [{"@id": "http://d.example/1", "@type": "dcat:Dataset"}, {"@id": "http://d.example/2", "@type": "dcat:Dataset"}]
WHOLE = Portion("hydra", 250, ("http://d.example/1", "http://d.example/2"))


def test_a_paged_collection_in_rdf_xml_states_its_total() -> None:
    text = '<?xml version="1.0"?>' + RDF.format(TOTAL)
    assert read(text, "application/rdf+xml", "http://d.example/catalog.rdf?page=1").portion == WHOLE
    assert read('<?xml version="1.0"?>' + RDF.format(""), "application/rdf+xml").portion is None


@pytest.mark.parametrize(
    "data",
    [
        {"@context": {}, "@graph": [{"@type": "hydra:PagedCollection", "hydra:totalItems": {"@value": "250"}}, *TWO]},
        {"@context": "http://www.w3.org/ns/hydra/context.jsonld", "totalItems": 250, "member": TWO},
    ],
    ids=["graph", "members"],
)
def test_a_paged_collection_in_json_ld_states_its_total(data: dict[str, object]) -> None:
    assert read(json.dumps(data), "application/ld+json", "http://d.example/catalog").portion == WHOLE


TURTLE = """@prefix hydra: <http://www.w3.org/ns/hydra/core#> . @prefix dcat: <http://www.w3.org/ns/dcat#> .
<http://d.example/catalog.ttl?page=1> a hydra:PagedCollection ; {} hydra:itemsPerPage 2 .
<http://d.example/1> a dcat:Dataset . <http://d.example/2> a dcat:Dataset ."""


@pytest.mark.parametrize(
    "total",
    ["hydra:totalItems 250 ;", 'hydra:totalItems "250"^^<http://www.w3.org/2001/XMLSchema#integer> ;'],
    ids=["number", "typed text"],
)
def test_a_paged_collection_in_turtle_states_its_total(total: str) -> None:
    page = "http://d.example/catalog.ttl?page=1"
    assert read(TURTLE.format(total), "text/turtle", page).portion == WHOLE
    assert read(TURTLE.format(""), "text/turtle", page).portion is None


def test_a_list_of_data_sets_is_counted_where_it_states_a_total() -> None:
    datasets = [{"identifier": f"{{{n}}}", "title": "x", "landingPage": "http://d.example/"} for n in range(2)]
    text = json.dumps({"dataset": datasets, "total": 40})
    assert read(text, "application/json", "http://g.example/opensearch?f=dcat&from=1&size=2").portion == Portion(
        "dcat", 40, ("{0}", "{1}")
    )
    assert read(text, "application/json", "http://g.example/data.json").portion == Portion("dcat", 40, ("{0}", "{1}"))
    assert read(json.dumps({"dataset": datasets}), "application/json", "http://g.example/data.json").portion is None


@pytest.mark.parametrize(
    ("name", "total"), [("dataSets", "hitCount"), ("items", "totalCount"), ("results", "numFound")]
)
def test_an_unknown_list_of_data_sets_is_paged_by_the_position_in_its_address(name: str, total: str) -> None:
    sets = [{"id": f"d{n}", "distributions": [{"accessURL": "http://m.example/a", "format": "WMS"}]} for n in range(3)]
    text, search = json.dumps({total: 7, name: sets}), "http://g.example/api/v0/search?q=*&start=3&limit=3"
    document = read(text, "application/json", search)
    assert document.portion == Portion("dcat", 7, ("d0", "d1", "d2"))
    assert pages_of(text, address=search) == [search.replace("start=3", "start=6")]
    assert pages_of(text, address=search.replace("start=3", "start=4")) == []
    assert [link.kind for link in document.links if link.where == "dcat"] == ["wms"]


@pytest.mark.parametrize(
    ("inner", "portion"),
    [
        ("<error code='noRecordsMatch'/>", Portion("oai-pmh", 0, ())),
        ("<error code='badArgument'/>", None),
        ("<ListRecords><record/></ListRecords>", Portion("oai-pmh", None, ("",))),
    ],
)
def test_an_oai_pmh_answer_without_records_or_total_is_told_as_such(inner: str, portion: Portion | None) -> None:
    text = f'<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{inner}</OAI-PMH>'
    assert read(text, "text/xml", "http://r.example/oai?verb=ListRecords&metadataPrefix=oai_dc").portion == portion


def list_of_records(count: int, **more: object) -> str:
    """A page of records of an OGC API that states seven."""
    features = [{"type": "Feature", "id": f"r{n}", "properties": {"type": "record"}} for n in range(count)]
    return json.dumps({"type": "FeatureCollection", "numberMatched": 7, "features": features, **more})


def pages_of(text: str, content_type: str = "application/json", address: str = RECORDS_AT, **header: str) -> list[str]:
    """The pages of records that a page of a list leads to."""
    return [link.url.address for link in read(text, content_type, address, **header).links if link.where == RECORDS]


@pytest.mark.parametrize(
    "header",
    [
        '<items?cursor=b,c>; rel="next"; type="application/geo+json", </x>; rel="self"',
        '</c/collections/r/items>; title="a, <b>"; rel=self, </c/collections/r/items?cursor=b,c>;rel="last next"',
        "<?cursor=b,c>; rel=next",
    ],
)
def test_a_next_page_that_the_header_link_alone_names_is_read(header: str) -> None:
    assert pages_of(list_of_records(3), link=header) == [f"{RECORDS_AT}?cursor=b,c"]
    own = {"links": [{"rel": "next", "href": "items?page=2"}]}
    assert pages_of(list_of_records(3, **own), link=header) == [f"{RECORDS_AT}?page=2"]
    assert pages_of('{"a": "http://d.example/x"}', link=header) == [], "no list of records"


def test_without_any_next_link_the_stated_total_leads_on() -> None:
    html = {"links": [{"rel": "next", "href": "items?offset=3&f=html", "type": "text/html"}]}
    assert pages_of(list_of_records(3, **html)) == [f"{RECORDS_AT}?offset=3"]
    assert pages_of(list_of_records(3), address=f"{RECORDS_AT}?offset=4&limit=3", link="</x>; rel=next-archive") == []


def ckan_of(total: object) -> str:
    sets = [{"id": f"d{n}", "resources": []} for n in range(3)]
    return json.dumps({"success": True, "result": {"count": total, "results": sets}})


def opendatasoft_of(total: object) -> str:
    return json.dumps({"total_count": total, "results": [{"dataset_id": f"d{n}"} for n in range(3)]})


def csw_of(total: object) -> str:
    return (
        '<?xml version="1.0"?><csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><csw:SearchResults numberOfRecordsMatched="{total}" '
        'numberOfRecordsReturned="3" nextRecord="4">'
        + "<csw:Record><dc:URI>http://m.example/wms?service=WMS</dc:URI></csw:Record>" * 3
        + "</csw:SearchResults></csw:GetRecordsResponse>"
    )


@pytest.mark.parametrize(
    ("write", "address", "following"),
    [
        (ckan_of, "http://d.example/api/3/action/package_search?rows=3&start=0", "rows=3&start=3"),
        (opendatasoft_of, "http://d.example/api/explore/v2.1/catalog/datasets?limit=3&offset=0", "limit=3&offset=3"),
        (csw_of, "http://d.example/csw?request=GetRecords&startPosition=1", "startPosition=4"),
    ],
)
@pytest.mark.parametrize("total", [0, 2])
def test_a_total_below_what_the_page_holds_is_none(
    write: Callable[[object], str], address: str, following: str, total: int
) -> None:
    form = "application/xml" if write is csw_of else "application/json"
    portion = read(write(total), form, address).portion
    assert portion is not None and (portion.matched, len(portion.ids)) == (None, 3)
    assert [page.rpartition(following)[1:] for page in pages_of(write(total), form, address)] == [(following, "")]
    assert pages_of(write(3), form, address) == []


def test_a_list_with_more_links_than_are_read_is_cut_off() -> None:
    sets = [{"distribution": [{"format": "WMS", "accessURL": f"http://m.example/{n}"}]} for n in range(4)]
    turtle = "".join(
        f"<http://d.example/{n}> <http://www.w3.org/ns/dcat#accessURL> <http://m.example/{n}> .\n" for n in range(4)
    )
    for body, form in (
        (json.dumps({"dataset": sets}), "application/json"),
        (turtle, "text/turtle"),
        (csw_of(3), "text/xml"),
    ):
        faults = [PageReader(max_links=most).read(page(body, form), depth=1).fault for most in (2, 100)]
        assert faults == ["truncated", ""]


def test_a_folder_with_more_files_than_are_read_is_cut_off() -> None:
    rows = "".join(f'<a href="{n}.xml">{n}.xml</a>\n' for n in range(5))
    folder = page(f"<title>Index of /waf/</title><a href='../'>../</a>{rows}", address="http://d.example/waf/")
    assert [PageReader(max_links=most).read(folder, depth=1).fault for most in (4, 100)] == ["truncated", ""]


def test_a_stac_with_more_children_than_are_followed_is_cut_off() -> None:
    for count, fault in ((100, ""), (101, "truncated")):
        links = [{"rel": "child", "href": f"{n}/collection.json"} for n in range(count)]
        stac = read(json.dumps({"stac_version": "1.0.0", "type": "Catalog", "links": links}), "application/json")
        assert (len(stac.links), stac.fault) == (100, fault)


def feed_of(type_: str) -> str:
    return (
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:s="http://a9.com/-/spec/opensearch/1.1/">'
        '<s:totalResults>7</s:totalResults><link rel="next" href="?q=*&amp;page=2"/>'
        f'<entry><id>d1</id><title>Roads</title><link rel="alternate" type="{type_}" href="http://m.example/maps/1"/></entry></feed>'
    )


def test_results_of_a_search_in_atom_that_link_services_are_counted_and_go_on() -> None:
    document = read(feed_of("application/vnd.ogc.wms_xml"), "application/atom+xml", "http://d.example/search?q=*")
    assert document.portion == Portion("opensearch", 7, ("d1",))
    assert [(link.kind, link.anchor, link.record) for link in document.links if link.where == "feed"] == [
        ("wms", "Roads", 0)
    ]
    following = pages_of(feed_of("application/vnd.ogc.wms_xml"), "application/atom+xml", "http://d.example/search?q=*")
    assert following == ["http://d.example/search?q=*&page=2"]
    blog = feed_of("text/html")
    assert read(blog, "application/atom+xml").portion is None and pages_of(blog, "application/atom+xml") == []
