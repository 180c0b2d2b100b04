"""`show`, `merge` and `split`: which addresses are one service, why, and a person's word."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from geocrawl.model import Candidate, Evidence, Kind, Layer, Service
from geocrawl.urls import service_endpoint
from tests.support import forked
from tests.support.world import World, url, verdict

Run = Callable[..., subprocess.CompletedProcess[str]]
ATLAS = Service(
    kind=Kind.WMS,
    version="1.3.0",
    title="Atlas of Ruritania",
    provider="Survey Office",
    layers=tuple(Layer(name, name.title()) for name in ("roads", "rivers", "woods")),
    fingerprint="atlas",
)
WFS = Service(Kind.WFS, "2.0.0", "Features of Ruritania", fingerprint="features")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    world = World(tmp_path / "c.db")
    for address, service in [
        ("https://maps.a.example/geoserver/ows", ATLAS),
        ("http://www.maps.a.example/geoserver/wms", ATLAS),
        ("http://b.example/wms", ATLAS),
        ("http://b.example/wfs", WFS),
    ]:
        candidate = Candidate(service_endpoint(service.kind, url(address)), Evidence("query"))
        world.record(candidate, verdict("ok", service), world.clock.now())
    world.database.close()

    def geocrawl(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = forked.geocrawl((command, *arguments, "--db", "c.db"), env=os.environ, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        return done

    return geocrawl


def test_show_says_why_addresses_are_one_and_which_is_the_best(run: Run) -> None:
    told = run("show", "http://www.maps.a.example/geoserver/wms").stdout
    assert "2 addresses; the best is https://maps.a.example/geoserver/ows" in told
    assert "the same document, and the addresses differ in host and path only" in told
    detail = json.loads(run("show", "1", "--json").stdout)
    assert detail["best"] == "https://maps.a.example/geoserver/ows"
    assert [each["same"] for each in detail["same"]] == [True]
    found = json.loads(run("search", "atlas", "--format", "json").stdout)
    assert "https://maps.a.example/geoserver/ows" in {row["url"] for row in found}


def test_a_person_parts_and_joins(run: Run) -> None:
    one, other = "https://maps.a.example/geoserver/ows", "http://www.maps.a.example/geoserver/wms"
    assert "are two services" in run("split", one, other).stdout
    told = run("show", one).stdout
    assert f"{one} is not {other}" in told
    assert "person: a person says so" in told
    assert "are one service" in run("merge", other, one).stdout
    assert "2 addresses" in run("show", other).stdout
    (row,) = json.loads(run("merge", "1", "http://b.example/wms", "--json").stdout)
    assert (row["kind"], row["same"]) == ("wms", True)
    assert "3 addresses" in run("show", "http://b.example/wms").stdout
    assert run("split", "1", "http://b.example/wms").returncode == 0
    assert "2 addresses" in run("show", one).stdout


def test_search_show_and_export_tell_kinds_apart(run: Run) -> None:
    lines = [json.loads(line) for line in run("export", "--format", "jsonl", "--kind", "WFS").stdout.splitlines()]
    assert [(line["kind"], line["url"]) for line in lines] == [("wfs", "http://b.example/wfs")]
    (row,) = json.loads(run("search", "ruritania", "--kind", "wfs", "--format", "json").stdout)
    assert row["kind"] == "wfs"
    assert run("search", "ruritania", "--kind", "wfz").returncode == 2
    assert run("show", "http://b.example/wfs?service=WFS&request=GetFeature").stdout.startswith("WFS 2.0.0")
    assert "valid (ok)" in run("why", "http://b.example/wfs?service=WFS&request=GetFeature").stdout


@pytest.mark.parametrize(
    ("one", "other", "code", "said"),
    [
        ("http://b.example/wms", "http://b.example/wfs", 2, "only services of one kind can be merged"),
        ("http://b.example/wms", "http://b.example/wms", 2, "the same address"),
        ("http://b.example/wms", "http://c.example/wms", 1, "no service in the catalogue"),
        ("99", "http://b.example/wms", 1, "no service in the catalogue"),
        ("not an address", "1", 2, "nor a web address"),
    ],
)
def test_what_cannot_be_meant_is_wrong_use_and_a_missing_service_is_1(
    run: Run, one: str, other: str, code: int, said: str
) -> None:
    done = run("merge", one, other)
    assert done.returncode == code
    assert said in done.stderr


def test_the_number_of_a_merged_service_goes_on_to_name_it(run: Run) -> None:
    assert "http://b.example/wms" in run("show", "2").stdout
    assert run("merge", "1", "2").returncode == 0
    for command in ("show", "history"):
        told = run(command, "2")
        assert told.returncode == 0 and told.stdout == run(command, "1").stdout
    assert "3 addresses" in run("show", "2").stdout
