"""CSW by pycsw, in its own interpreter: what OWSLib's client gets, what is kept from clients, how the process ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree

from geocrawl.export.iso import GMD
from geocrawl.export.services import export_services
from geocrawl.model.search import Selection
from geocrawl.store import Store
from geocrawl.store.catalogue.services import read_services
from geocrawl.web.csw.process import CswOptions, CswProcess, configuration_of, find_interpreter
from tests.servers.mapservers import interpreter
from tests.support.parts import PYCSW, lack
from tests.support.places import ROOT

pytestmark = pytest.mark.servers

HOSTILE = "<script>alert(1)</script> & ]]> \x1b[31m\u202e\uffff 'x' % 洪水"
SECRET = "hunter2secret"
PRESENT_S = 240


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter that has pycsw."""
    for path in (interpreter(), ROOT / ".venv-csw" / "bin" / "python"):
        if path.is_file():
            return find_interpreter(str(path))
    lack(PYCSW)


@pytest.fixture(scope="module")
def hostile(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's catalogue with a hostile service, one over 180°, and one whose address has a key."""
    path = tmp_path_factory.mktemp("csw") / "c.db"
    with sqlite3.connect(crawled) as source, sqlite3.connect(path) as target:
        source.backup(target)
        target.execute(
            "UPDATE service SET title = ?, abstract = ?, west = 170, east = -170, south = -20, north = 10 WHERE id = 1",
            (HOSTILE, f"see http://a.example/wms?api_key={SECRET}"),
        )
        target.execute(
            "UPDATE endpoint SET url = url || ?, masked_url = masked_url || ? WHERE id = "
            "(SELECT best_id FROM service WHERE id = 2)",
            (f"?token={SECRET}", "?token=***"),
        )
        target.execute("UPDATE search_text SET address = ?, found = ? WHERE rowid = 2", (SECRET, SECRET))
    source.close()
    target.close()
    return path


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def wait_for(address: str) -> None:
    until = time.monotonic() + PRESENT_S
    while time.monotonic() < until:
        try:
            if httpx.get(address, timeout=120).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(f"nothing answers at {address}")


@pytest.fixture(scope="module")
def csw(python: Path, hostile: Path) -> Iterator[str]:
    """The address of the hostile catalogue's CSW."""
    port = free_port()
    with CswProcess(python, CswOptions(hostile, port=port)):
        wait_for(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}/"


def test_a_client_with_many_requests_at_once_leaves_threads_to_others(python: Path, hostile: Path) -> None:
    port, query = free_port(), "?service=CSW&version=2.0.2&request=GetRecords&typenames=csw:Record&elementsetname=full"

    def answers(source: str, count: int) -> list[httpx.Response]:
        with httpx.Client(transport=httpx.HTTPTransport(local_address=source), timeout=120) as visitor:
            return [visitor.get(f"http://127.0.0.1:{port}/{query}&maxrecords=100") for _ in range(count)]

    with CswProcess(python, CswOptions(hostile, port=port, requests_per_minute=60_000)), ThreadPoolExecutor(13) as pool:
        wait_for(f"http://127.0.0.1:{port}/")
        other, *many = (pool.submit(answers, f"127.0.0.{3 if n else 2}", 4 if n else 8) for n in range(13))
        assert {answer.status_code for answer in other.result()} == {200}
        refused = [answer for each in many for answer in each.result() if answer.status_code != 200]
    assert {answer.status_code for answer in refused} == {503} and refused[0].headers["retry-after"] == "2"
    assert len(refused) < 48, "two at a time are answered"


def client(address: str, version: str) -> Any:
    from owslib.catalogue.csw2 import CatalogueServiceWeb as Csw2
    from owslib.catalogue.csw3 import CatalogueServiceWeb as Csw3

    asked = (Csw2 if version == "2.0.2" else Csw3)(address, version=version, timeout=240)
    asked.getrecords2 = getattr(asked, "getrecords2", None) or asked.getrecords
    return asked


both_versions = pytest.mark.parametrize("version", ["2.0.2", "3.0.0"])


def test_the_example_of_the_documentation_finds_something(csw: str, capsys: pytest.CaptureFixture[str]) -> None:
    pages = (ROOT / "docs" / "web.md").read_text("utf-8")
    (example,) = (
        each for each in re.findall(r"^```python\n(.+?)^```", pages, re.M | re.S) if "CatalogueService" in each
    )
    exec(compile(example.replace("http://127.0.0.1:8081/", csw), "docs/web.md", "exec"), {})
    assert len(capsys.readouterr().out) > 20


def count_of(path: Path, where: str = "1") -> int:
    with sqlite3.connect(path) as connection:
        return int(connection.execute(f"SELECT count(*) FROM v_services WHERE {where}").fetchone()[0])


@both_versions
def test_capabilities_name_the_operations_and_this_address(csw: str, version: str) -> None:
    asked = client(csw, version)
    assert asked.version == version and asked.identification.title == "geocrawl"
    offered = {each.name: each for each in asked.operations}
    assert {"GetRecords", "GetRecordById", "GetCapabilities"} <= set(offered) and "Transaction" not in offered
    assert all(method["url"] == csw for method in offered["GetRecords"].methods)


def test_records_of_iso_are_as_the_schemas_of_the_standard_demand(csw: str, hostile: Path) -> None:
    from owslib.catalogue.csw2 import CatalogueServiceWeb as Csw2

    from tests.export.test_iso import schema

    asked = {"service": "CSW", "version": "2.0.2", "request": "GetRecords", "resulttype": "results"}
    named = {"typenames": "gmd:MD_Metadata", "elementsetname": "full", "outputschema": GMD, "maxrecords": "100"}
    found = etree.fromstring(httpx.get(csw, params={**asked, **named}, timeout=120).content).findall(
        f".//{{{GMD}}}MD_Metadata"
    )
    assert len(found) == count_of(hostile)
    for record in found:
        assert schema("iso19139").validate(record), schema("iso19139").error_log.last_error
    asking = Csw2(csw, timeout=240)
    asking.getrecords2(outputschema=GMD, esn="full", maxrecords=100)
    assert len(asking.records) == count_of(hostile)
    asking.getrecordbyid(["urn:geocrawl:service:3"], outputschema=GMD)
    (record,) = asking.records.values()
    (about,) = record.identification
    assert (about.identtype, record.hierarchy) == ("service", "service") and about.title
    assert [link.protocol for link in record.distribution.online] == ["OGC:WMS"]


def test_pycsw_takes_over_a_folder_of_records(python: Path, hostile: Path, tmp_path: Path) -> None:
    records = tmp_path / "records"
    with Store.open_readonly(hostile) as connection:
        services = list(read_services(connection, Selection()))
    assert export_services(services, iter(()), "iso19139", records) == count_of(hostile)
    repository = {"database": f"sqlite:///{tmp_path / 'pycsw.db'}", "table": "records"}
    sections = {**configuration_of(CswOptions(hostile))["pycsw"], "repository": repository}
    sections["server"] = {**sections["server"], "home": str(tmp_path)}
    lines = [
        f"[{name}]\n" + "\n".join(f"{key}={value}" for key, value in each.items()) for name, each in sections.items()
    ]
    (tmp_path / "pycsw.cfg").write_text("\n".join(lines))
    for command in (["setup_db"], ["load_records", "-p", str(records)]):
        admin = [
            str(python),
            str(python.with_name("pycsw-admin.py")),
            "-f",
            str(tmp_path / "pycsw.cfg"),
            "-c",
            *command,
        ]
        done = subprocess.run(admin, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "pycsw.db") as database:
        loaded = database.execute("SELECT count(*), count(title), count(links) FROM records").fetchone()
    assert loaded == (count_of(hostile),) * 3


def test_every_schema_that_is_advertised_is_written(csw: str) -> None:
    operation = next(each for each in client(csw, "2.0.2").operations if each.name == "GetRecords")
    offered = next(each["values"] for name, each in operation.parameters.items() if name.lower() == "outputschema")
    assert len(offered) >= 4
    question = {"service": "CSW", "version": "2.0.2", "request": "GetRecords", "typenames": "csw:Record"}
    for schema in offered:
        asked = {**question, "resulttype": "results", "elementsetname": "full", "outputschema": schema}
        written = etree.fromstring(httpx.get(csw, params=asked, timeout=120).content)
        assert etree.QName(written).localname == "GetRecordsResponse", schema
        assert written.xpath("//*[local-name() = 'SearchResults']/*"), schema


@both_versions
def test_paging_visits_every_record_once(csw: str, hostile: Path, version: str) -> None:
    asked, seen, start = client(csw, version), list[str](), 1
    for _ in range(20):
        asked.getrecords2(maxrecords=7, startposition=start, esn="full")
        seen += asked.records
        start = int(asked.results["nextrecord"])
        if start == 0:
            break
    assert len(seen) == len(set(seen)) == int(asked.results["matches"]) == count_of(hostile) > 20


def test_metasearch_of_qgis_finds_services_and_offers_their_layers(csw: str, hostile: Path) -> None:
    found = {words: metasearch(csw, words) for words in ("", "%water%", "%nothing has these words%")}
    assert [each["warnings"] for each in found.values()] == [[], [], []]
    every = found[""]["records"]
    assert len(every) == count_of(hostile) and found["%nothing has these words%"]["records"] == []
    assert 0 < len(found["%water%"]["records"]) < len(every)
    with sqlite3.connect(hostile) as connection:
        kinds = [kind for (kind,) in connection.execute("SELECT kind FROM v_services")]
    for kind, shown in (("wms", "WMS"), ("wfs", "WFS")):
        assert sum(shown in each["adds"] for each in every) >= kinds.count(kind) > 0, kind
    assert sum(each["footprint"] for each in every) == count_of(hostile, "west IS NOT NULL")


def metasearch(address: str, keywords: str) -> Any:
    """What QGIS's own catalogue client shows."""
    command = ["/usr/bin/python3", str(ROOT / "tests" / "web" / "qgis_metasearch.py"), address, keywords]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def boxed(asked: Any, form: Any, box: tuple[float, ...], words: str = "") -> int:
    """Return how many records are in a box. OWSLib's boxes of FES 2.0 are in the namespace of GML 3.1, which the schema
    of CSW 3.0 refuses: there, the box is a parameter."""
    west, south, east, north = box
    if asked.version == "2.0.2":
        bbox = form.BBox([south, west, north, east])  # latitudes first, as EPSG:4326 says
        like = [form.PropertyIsLike("csw:AnyText", f"%{words}%")] if words else []
        asked.getrecords2(constraints=[[bbox, *like]] if words else [bbox], maxrecords=100, esn="full")
    else:
        question = (
            "service=CSW&version=3.0.0&request=GetRecords&typenames=csw:Record&elementsetname=full&maxrecords=100"
        )
        corners = f"&bbox={west},{south},{east},{north}" + (f"&q={words}" if words else "")
        asked.getrecords2(xml=question + corners, esn="full")
    return int(asked.results["matches"])


@both_versions
def test_words_and_boxes_choose(csw: str, hostile: Path, version: str) -> None:
    from owslib import fes, fes2

    form, asked = (fes if version == "2.0.2" else fes2), client(csw, version)

    def matches(*constraints: Any) -> int:
        asked.getrecords2(constraints=list(constraints), maxrecords=100, esn="full")
        return int(asked.results["matches"])

    def like(words: str) -> Any:
        return form.PropertyIsLike("csw:AnyText", f"%{words}%")

    water = matches(like("water"))
    texts = [f"{each.title} {each.abstract} {each.subjects}".lower() for each in asked.records.values()]
    assert 0 < water < count_of(hostile) and any("water" in text for text in texts)
    assert matches(like("nosuchwordanywhere")) == 0
    touching = count_of(hostile, "west <= east AND east >= 100 AND west <= 120 AND north >= 20 AND south <= 40")
    assert boxed(asked, form, (100, 20, 120, 40)) == touching > 0
    assert boxed(asked, form, (175, -10, 179, 0)) == count_of(
        hostile, "north >= -10 AND south <= 0 AND (id = 1 OR west <= east AND east >= 175 AND west <= 179)"
    )
    assert "urn:geocrawl:service:1" in asked.records  # its extent crosses 180°
    assert boxed(asked, form, (-40, -60, -30, -50)) == 0
    both = boxed(asked, form, (100, 20, 120, 40), words="water")
    assert 0 <= both <= min(water, touching)
    assert matches(form.PropertyIsEqualTo("dc:identifier", "urn:geocrawl:service:3")) == 1


def record_of(csw: str, version: str, number: int) -> Any:
    """Return a record that is asked for by its id."""
    from owslib.catalogue.csw3 import Csw30Record

    asked, identifier = client(csw, version), f"urn:geocrawl:service:{number}"
    asked.getrecordbyid(id=[identifier])
    assert not list(etree.fromstring(asked.response).iter("{*}script"))
    # In version 3.0 the answer is the record itself, which OWSLib looks for below the answer's root.
    return asked.records[identifier] if version == "2.0.2" else Csw30Record(asked._exml.getroot())


@both_versions
def test_a_record_is_had_by_its_id(csw: str, hostile: Path, version: str) -> None:
    record = record_of(csw, version, 3)
    with sqlite3.connect(hostile) as connection:
        title, url, *corner = connection.execute(
            "SELECT title, url, south, west FROM v_services WHERE id = 3"
        ).fetchone()
    assert record.title == title and record.type == "service"
    assert url in [each["url"] for each in record.references]
    lower = etree.fromstring(etree.tostring(record.xml) if hasattr(record.xml, "tag") else record.xml)
    found = next(lower.iter("{*}LowerCorner")).text or ""
    assert [float(each) for each in found.split()] == pytest.approx(corner, abs=0.01)


@both_versions
def test_hostile_titles_stay_text(csw: str, version: str) -> None:
    assert record_of(csw, version, 1).title == "<script>alert(1)</script> & ]]> 'x' % 洪水"


def test_no_key_is_published(csw: str) -> None:
    question = {"service": "CSW", "typenames": "csw:Record", "elementsetname": "full", "maxrecords": "100"}
    answers = []
    for version, names in (("2.0.2", "http://www.opengis.net/cat/csw/2.0.2"), ("3.0.0", "http://www.w3.org/2005/Atom")):
        asked = {**question, "request": "GetRecords", "version": version, "resulttype": "results"}
        answers.append(httpx.get(csw, params={**asked, "outputschema": names}, timeout=240).text)
        for name in ("dc:source", "dct:abstract"):
            domain = {"service": "CSW", "version": version, "request": "GetDomain", "propertyname": name}
            domain["valuereference"] = name
            answers.append(httpx.get(csw, params=domain, timeout=240).text)
    assert "token=***" in answers[0] and "api_key=***" in answers[0]
    assert not [answer for answer in answers if SECRET in answer]
    found = httpx.get(csw, params={**question, "version": "3.0.0", "request": "GetRecords", "q": SECRET}, timeout=240)
    assert 'numberOfRecordsMatched="0"' in found.text


@pytest.mark.parametrize(
    "corner",
    ["0 0", "0', 'bbox', '') = 'true' UNION SELECT url FROM endpoint -- 0", "nan nan", "1e999 0"],
)
def test_coordinates_are_no_sql(csw: str, corner: str) -> None:
    names = 'xmlns:ogc="http://www.opengis.net/ogc" xmlns:gml="http://www.opengis.net/gml"'
    body = f"""<csw:GetRecords xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" {names} service="CSW" version="2.0.2"
      resultType="results"><csw:Query typeNames="csw:Record"><csw:ElementSetName>full</csw:ElementSetName>
      <csw:Constraint version="1.1.0"><ogc:Filter><ogc:Intersects><ogc:PropertyName>ows:BoundingBox</ogc:PropertyName>
      <gml:LineString><gml:posList>{corner} 1 1</gml:posList></gml:LineString></ogc:Intersects></ogc:Filter>
      </csw:Constraint></csw:Query></csw:GetRecords>"""
    answer = httpx.post(csw, content=body, headers={"Content-Type": "application/xml"}, timeout=240)
    etree.fromstring(answer.content)
    assert SECRET not in answer.text and ("ExceptionReport" in answer.text) == (corner != "0 0")


def test_what_pycsw_should_not_do_is_refused(csw: str) -> None:
    asked = {"service": "CSW", "version": "2.0.2", "request": "GetRecords", "typenames": "csw:Record"}
    elsewhere = httpx.get(csw, params={**asked, "responseHandler": "ftp://127.0.0.1/x"}, timeout=240)
    assert elsewhere.status_code == 400 and "ResponseHandler" in elsewhere.text
    assert httpx.post(csw, content=b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>').status_code == 400
    assert httpx.post(csw, content=b"<a/>" * 50_000).status_code == 413
    assert httpx.get(csw, headers={"Host": "evil.example"}, timeout=240).status_code == 421
    assert httpx.put(csw, content=b"x").status_code == 405
    assert httpx.get(f"{csw}?q={'x' * 9_000}", timeout=240).status_code == 414
    absurd = httpx.get(csw, params={**asked, "maxrecords": "9" * 30, "startposition": "9" * 30}, timeout=240)
    assert absurd.status_code < 500 and "9" * 30 not in absurd.headers.get("content-type", "")
    assert (
        httpx.get(csw, params={**asked, "outputformat": "text/html"}, timeout=240)
        .headers["content-type"]
        .startswith("app")
    )


def test_a_process_that_dies_is_started_anew_and_ends_with_the_context(
    python: Path, crawled: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    with CswProcess(python, CswOptions(crawled, port=port), first_delay_s=0.1) as process:
        wait_for(f"http://127.0.0.1:{port}/")
        first = process.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_for(f"http://127.0.0.1:{port}/")
        second = process.pid
        assert second is not None and second != first
    assert not Path(f"/proc/{second}").exists()
    assert "CSW ended (exit code -9); it is started again in 0.1 s" in capfd.readouterr().err


def test_the_command_serves_csw_and_takes_it_along_when_killed(python: Path, crawled: Path) -> None:
    pages, port = free_port(), free_port()
    command = [sys.executable, "-m", "geocrawl", "serve", "--db", str(crawled), "--port", str(pages), "--csw"]
    env = {**os.environ, "GEOCRAWL_CSW_PYTHON": str(python)}
    with subprocess.Popen([*command, "--csw-port", str(port)], env=env, stderr=subprocess.DEVNULL) as started:
        try:
            wait_for(f"http://127.0.0.1:{port}/")
        finally:
            started.kill()
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) != 0:
                return
        time.sleep(0.1)
    raise AssertionError("CSW outlived the command")
