"""What was read of other catalogues: by the door, the API, the page Operations and `status`, on each engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.app.findings import status_at
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.urls.database import place_of
from geocrawl.web.records.sources import SCHEMA
from tests.app.test_harvest import CKAN, catalogue, first_rows, harvest
from tests.web.conftest import Serve


@pytest.mark.parametrize("engine", ["disk", "postgres"])
def test_all_faces_tell_the_same_of_a_catalogue_that_was_read_in_part(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, serve: Serve
) -> None:
    place = place_of(request.getfixturevalue("postgres_url") if engine == "postgres" else str(tmp_path / "c.db"))
    harvest(catalogue(), place, first_rows(CKAN), max_records=2)
    with Catalogue(place) as door:
        (source,) = door.sources()
        assert door.sources(state="short") == (source,)
        assert door.sources(state="whole") == ()
    assert (source.stated, source.read, source.named, source.reason) == (3, 2, 2, "max-records")
    assert (source.new, source.known, source.dead, source.waiting) == (2, 0, 0, 0)
    client = serve(place)
    (row,) = client.get("/sources", params={"state": "short"}).json()["sources"]
    assert row["endpoints"] == {"new": 2, "known": 0, "dead": 0, "waiting": 0}
    names = ("address", "family", "stated", "read", "named", "state", "reason")
    assert [row[name] for name in names] == [getattr(source, name) for name in names]
    assert row.keys() == SCHEMA["properties"]["sources"]["items"]["properties"].keys()  # type: ignore[index]
    assert client.get("/sources", params={"state": "whole"}).json() == {"sources": []}
    assert status_at(place).sources == (source,)
    page = client.get("/operations").text
    assert row["reason"] in page and row["address"].replace("&", "&amp;") in page


@pytest.mark.parametrize("query", ["state=lost", "limit=0", "limit=many"])
def test_a_wrong_parameter_is_named(serve: Serve, crawled: Path, query: str) -> None:
    answer = serve(crawled).get(f"/sources?{query}")
    assert (answer.status_code, answer.json()["detail"].partition(":")[0]) == (400, query.partition("=")[0])
