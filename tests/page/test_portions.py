"""What answers in other forms than CSW say of their lists: totals and identifiers of records."""

from __future__ import annotations

import json

import pytest

from geocrawl.model import Portion
from tests.support.pages import read

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


def test_a_list_of_geoportal_server_states_its_total_and_data_json_of_a_government_none() -> None:
    datasets = [{"identifier": f"{{{n}}}", "title": "x", "landingPage": "http://d.example/"} for n in range(2)]
    text = json.dumps({"dataset": datasets, "total": 40})
    assert read(text, "application/json", "http://g.example/opensearch?f=dcat&from=1&size=2").portion == Portion(
        "dcat", 40, ("{0}", "{1}")
    )
    assert read(text, "application/json", "http://g.example/data.json").portion is None


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
