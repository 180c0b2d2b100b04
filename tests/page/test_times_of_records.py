"""The time of a record's data is that of the services which the record names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.model import Evidence
from geocrawl.model.times import read_interval
from geocrawl.wording import iso
from tests.page.records import named
from tests.store.catalogue.search.catalogue import service
from tests.support.pages import read
from tests.support.world import World, candidate, verdict

GMD, GML = "http://www.isotc211.org/2005/gmd", "http://www.opengis.net/gml"
EXTENT = """<extent><EX_Extent><temporalElement><EX_TemporalExtent><extent>{}</extent></EX_TemporalExtent>
</temporalElement></EX_Extent></extent>"""
PERIOD = "<g:TimePeriod><g:beginPosition>{}</g:beginPosition><g:endPosition {}</g:endPosition></g:TimePeriod>"
LINK = "http://m.example/wms"


def iso_19139(*extents: str) -> str:
    return f"""<MD_Metadata xmlns="{GMD}" xmlns:g="{GML}"><identificationInfo><MD_DataIdentification>
{"".join(map(EXTENT.format, extents))}</MD_DataIdentification></identificationInfo><distributionInfo>
<CI_OnlineResource><linkage><URL>{LINK}</URL></linkage><protocol>OGC:WMS</protocol></CI_OnlineResource>
</distributionInfo></MD_Metadata>"""


def of_records(time: object) -> str:
    feature = {"type": "Feature", "id": "1", "time": time, "properties": {"type": "dataset", "title": "Lakes"}}
    links = [{"href": LINK, "rel": "item", "protocol": "OGC:WMS"}, {"href": LINK, "rel": "related", "type": "OGC:WMS"}]
    return json.dumps({"type": "FeatureCollection", "features": [feature | {"links": links}], "numberMatched": 1})


def of_data_sets(temporal: object) -> str:
    distribution = {"format": "WMS", "accessURL": LINK}
    dataset = {"title": "Lakes", "temporal": temporal, "distribution": [distribution]}
    return json.dumps({"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [dataset]})


TURTLE = f"""@prefix dct: <http://purl.org/dc/terms/> . @prefix dcat: <http://www.w3.org/ns/dcat#> .
<http://c.example/1> a dcat:Dataset ; dct:title "Lakes" ;
  dcat:distribution [ dct:format "WMS" ; dcat:accessURL <{LINK}> ] ;
  dct:temporal [ a dct:PeriodOfTime ; dcat:startDate "2015" ; dcat:endDate "2020-06-30" ] ."""


@pytest.mark.parametrize(
    ("text", "form", "start", "end"),
    [
        (iso_19139(PERIOD.format("2015", ">2020-06-30")), "application/xml", "2015-01-01", "2020-06-30"),
        (iso_19139(PERIOD.format("2015", 'indeterminatePosition="now">')), "application/xml", "2015-01-01", ""),
        (
            iso_19139(PERIOD.format("2015", ">2016"), PERIOD.format("1990", ">1991")),
            "application/xml",
            "1990-01-01",
            "2016-12-31",
        ),
        (
            iso_19139("<g:TimeInstant><g:timePosition>2015-03</g:timePosition></g:TimeInstant>"),
            "application/xml",
            "2015-03-01",
            "2015-03-31",
        ),
        (iso_19139(PERIOD.format("", ">")), "application/xml", "", ""),
        (of_records({"interval": ["2015-01-01", ".."]}), "application/geo+json", "2015-01-01", ""),
        (of_records({"date": "2015-03-01"}), "application/geo+json", "2015-03-01", "2015-03-01"),
        (of_records(None), "application/geo+json", "", ""),
        (of_data_sets("2015-01-01/2020-06-30"), "application/json", "2015-01-01", "2020-06-30"),
        (of_data_sets({"startDate": "2015"}), "application/json", "2015-01-01", ""),
        (of_data_sets(["R/P1Y"]), "application/json", "", ""),
        (TURTLE, "text/turtle", "2015-01-01", "2020-06-30"),
    ],
)
def test_the_link_of_a_record_has_the_time_of_its_data(text: str, form: str, start: str, end: str) -> None:
    times = named(read(text, form, "http://c.example/records"), "m.example").times
    assert (times is not None) == bool(start or end)
    if times is not None:
        ends = ["" if at is None else str(iso(at))[:10] for at in (times.start, times.end)]
        assert ends == [start, end]


def test_a_service_without_times_of_its_own_has_those_of_the_records_that_name_it(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    described = service("Lakes", "Survey", ("lakes",), None)
    own = tuple(replace(layer, times=read_interval("1990", "1991")) for layer in described.layers)
    found = []
    for name, layers in (("a", described.layers), ("b", own)):
        said = verdict("ok", replace(described, layers=layers))
        for page, years in (("1", ("2015", "2016")), ("2", ("2017", "2018")), ("3", ("", ""))):
            evidence = Evidence("csw-record", f"http://c.example/{page}", LINK, "Lakes", read_interval(*years))
            world.record(replace(candidate(f"{name}.example/wms"), evidence=evidence), said, world.clock.now())
        query = "SELECT time_start, time_end FROM v_services WHERE host = ?"
        found.append(world.database.connection.execute(query, (f"{name}.example",)).fetchone())
    world.store.close()
    recorded, stated = (
        ("2015-01-01T00:00:00Z", "2018-12-31T23:59:59Z"),
        ("1990-01-01T00:00:00Z", "1991-12-31T23:59:59Z"),
    )
    assert found == [recorded, stated]
