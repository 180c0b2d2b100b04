"""OAI-PMH, folders of records, indexes of imagery, data.json and Geoportal Server: to the end, and since a day."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from geocrawl.lab.recorded_worlds.replay import Response, error_page
from tests.app.recorded_web import Answer, Answers
from tests.app.test_families import harvest
from tests.app.test_records_in_crawls import asked, crawl
from tests.page.records import following, kinds
from tests.support.pages import read

GMD = "http://www.isotc211.org/2005/gmd"


def iso(number: int) -> str:
    return (
        f'<gmd:MD_Metadata xmlns:gmd="{GMD}"><gmd:CI_OnlineResource><gmd:linkage><gmd:URL>http://m.example/maps/{number}'
        "</gmd:URL></gmd:linkage><gmd:protocol>OGC:WMS</gmd:protocol></gmd:CI_OnlineResource></gmd:MD_Metadata>"
    )


def dcat(number: int) -> str:
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://www.w3.org/ns/dcat#"><d:Distribution>'
        f'<d:format>WMS</d:format><d:accessURL rdf:resource="http://m.example/maps/{number}"/></d:Distribution></rdf:RDF>'
    )


def dublin_core(number: int) -> str:
    return f"<oai_dc:dc xmlns:oai_dc='o' xmlns:dc='d'><dc:title>x</dc:title><dc:relation>http://m.example/maps/{number}?service=WMS</dc:relation></oai_dc:dc>"


RECORDS_OF: dict[str, tuple[str, Callable[[int], str]]] = {
    "iso19139": (GMD, iso), "dcat_ap": ("http://www.w3.org/ns/dcat#", dcat), "oai_dc": ("o", dublin_core)
}  # fmt: skip


class Repository(Answers):
    """A repository with 7 records, 3 an answer, in these formats. `failures`: wrong answers to the second page."""

    def __init__(self, *prefixes: str, failures: int = 0) -> None:
        super().__init__({"r.example/": ("text/html", b'<a href="/oai?mode=oaipmh&amp;verb=Identify">OAI-PMH</a>')})
        self.prefixes, self.failures = prefixes, failures

    def respond(self, scheme: str, host: str, target: str) -> Response:
        path, _, query = target.partition("?")
        if path != "/oai":
            return super().respond(scheme, host, target)
        self.asked.append(host + target)
        if "resumptionToken=iso19139,3" in query and self.failures:
            self.failures -= 1
            return error_page(500)
        body = f'<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{self._answer(query)}</OAI-PMH>'
        return Response(200, [("Content-Type", "text/xml")], body.encode(), "page")

    def _answer(self, query: str) -> str:
        values = dict(part.split("=", 1) for part in query.split("&") if "=" in part)
        if values.get("verb") == "Identify":
            return "<Identify><repositoryName>R</repositoryName></Identify>"
        if values.get("verb") == "ListMetadataFormats":
            formats = "".join(
                f"<metadataFormat><metadataPrefix>{each}</metadataPrefix><metadataNamespace>{RECORDS_OF[each][0]}"
                "</metadataNamespace></metadataFormat>"
                for each in self.prefixes
            )
            return f"<ListMetadataFormats>{formats}</ListMetadataFormats>"
        if values.get("verb") != "ListRecords":
            return '<error code="badVerb"/>'
        token = values.get("resumptionToken", "")
        prefix, start = token.split(",") if token else (values["metadataPrefix"], "0")
        if prefix not in self.prefixes:
            return '<error code="cannotDisseminateFormat"/>'
        shown = range(7)[int(start) :][:3] if "from" not in values else [5]
        total = len(shown) if "from" in values else 7
        last = int(start) + 3 >= 7 or "from" in values
        following = "" if last else f"{prefix},{int(start) + 3}"
        records = "".join(
            f"<record><header><identifier>oai:{n}</identifier></header><metadata>{RECORDS_OF[prefix][1](n)}</metadata></record>"
            for n in shown
        )
        token = f'<resumptionToken completeListSize="{total}">{following}</resumptionToken>'
        return f"<ListRecords>{records}{token}</ListRecords>"


def numbers(path: Path) -> set[int]:
    return {int(each.rpartition("/")[2][0]) for each in asked(path) if "m.example/maps/" in each}


@pytest.mark.parametrize("prefixes", [("oai_dc", "iso19139"), ("oai_dc", "dcat_ap"), ("oai_dc",)])
@pytest.mark.parametrize("start", ["http://r.example/", "http://r.example/oai?mode=oaipmh"])
def test_a_repository_is_read_by_tokens_in_its_best_format(
    tmp_path: Path, prefixes: tuple[str, ...], start: str
) -> None:
    web = Repository(*prefixes)
    (source,) = harvest(web, tmp_path / "c.db", start).sources
    assert (source.family, source.stated, source.read, source.state) == ("oai-pmh", 7, 7, "whole")
    assert numbers(tmp_path / "c.db") == set(range(7))
    lists = [each for each in web.asked if "verb=ListRecords" in each]
    assert lists == [
        f"r.example/oai?mode=oaipmh&verb=ListRecords&metadataPrefix={prefixes[-1]}",
        *(f"r.example/oai?mode=oaipmh&verb=ListRecords&resumptionToken={prefixes[-1]},{n}" for n in (3, 6)),
    ]


def test_a_repository_is_asked_since_a_day(tmp_path: Path) -> None:
    web = Repository("oai_dc", "iso19139")
    report = harvest(web, tmp_path / "c.db", "http://r.example/oai", "2024-05-01")
    assert (report.since, numbers(tmp_path / "c.db")) == ("2024-05-01", {5})
    assert all("from=2024-05-01" in each for each in web.asked if "ListRecords" in each)


@pytest.mark.parametrize("states", [True, False], ids=["total", "no total"])
@pytest.mark.parametrize("failing", ["bad token", "cut off"])
def test_a_repository_that_forgets_a_token_or_cuts_a_page_is_not_called_whole(
    tmp_path: Path, failing: str, states: bool
) -> None:
    class Forgetful(Repository):
        is_wrong = True

        def _answer(self, query: str) -> str:
            text = super()._answer(query)
            text = text if states and "resumptionToken" not in query else re.sub(' completeListSize="."', "", text)
            if "resumptionToken=" not in query or not self.is_wrong:
                return text
            error = '<error code="badResumptionToken">It has expired.</error>'
            return error if failing == "bad token" else text[: text.rindex("<record>")]

        def respond(self, scheme: str, host: str, target: str) -> Response:
            answer = super().respond(scheme, host, target)
            is_cut = failing == "cut off" and self.is_wrong and "resumptionToken=" in target
            return answer._replace(body=answer.body.removesuffix(b"</OAI-PMH>")) if is_cut else answer

    web = Forgetful("iso19139")
    report = harvest(web, tmp_path / "c.db", "http://r.example/oai")
    (source,) = report.sources
    state = ("short", "exception") if failing == "bad token" else ("reading", "truncated")
    assert not report.is_whole
    assert (source.stated, source.read, source.state, source.reason) == (7 if states else None, 3, *state)
    assert numbers(tmp_path / "c.db") == ({0, 1, 2} if failing == "bad token" else {0, 1, 2, 3, 4})
    web.is_wrong = False
    assert harvest(web, tmp_path / "c.db", "http://r.example/oai").is_whole
    assert numbers(tmp_path / "c.db") == set(range(7))


def test_a_token_that_failed_is_asked_again_by_the_next_harvest(tmp_path: Path) -> None:
    web = Repository("oai_dc", "iso19139", failures=1)
    harvest(web, tmp_path / "c.db", "http://r.example/oai")
    assert numbers(tmp_path / "c.db") == {0, 1, 2}
    harvest(web, tmp_path / "c.db", "http://r.example/oai")
    assert numbers(tmp_path / "c.db") == set(range(7))


# --------------------------------------------------------------------------- folders

APACHE = (
    '<title>Index of /md</title><h1>Index of /md</h1><pre><a href="?C=N">Name</a> '
    '<a href="/">Parent Directory</a>{}</pre>'
)
NGINX = '<title>Index of /md/</title><h1>Index of /md/</h1><hr><pre><a href="../">../</a>\n{}</pre>'
IIS = '<title>f.example - /md/</title><pre><A HREF="/">[To Parent Directory]</A><br><br>{}</pre>'


LIGHTTPD = '<title>Index of /md/</title><table><tr><td><a href="../">..</a>/</td></tr><tr><td>{}</td></tr></table>'
CADDY = '<title>/md/</title><h1><a href="/">/</a></h1><a href=".."><span>Up</span></a><span>{}</span>'
TOMCAT = '<title>Directory Listing For [/md/]</title><h1>Files - <a href="/"><b>Up To [/]</b></a></h1><tt>{}</tt>'
JETTY = '<title>Directory: /md/</title><a href="/">Parent Directory</a><table><tr><td>{}</td></tr></table>'
PYTHON = "<title>Directory listing for /md/</title><h1>Directory listing for /md/</h1><ul><li>{}</li></ul>"
LISTINGS = {"apache": APACHE, "nginx": NGINX, "iis": IIS, "lighttpd": LIGHTTPD, "caddy": CADDY}
LISTINGS |= {"tomcat": TOMCAT, "jetty": JETTY, "python": PYTHON}


@pytest.mark.parametrize("page", LISTINGS.values(), ids=LISTINGS)
def test_a_folder_of_records_is_read_with_the_folders_in_it(tmp_path: Path, page: str) -> None:
    inner = page.replace("/md/<", "/md/in/<").replace("[/md/]", "[/md/in/]")
    inner = inner.format('<a href="2.xml">2.xml</a> <a href="notes.txt">notes.txt</a>')
    web = Answers(
        {
            "f.example/md/": ("text/html", page.format('<a href="1.xml">1.xml</a> <a href="/md/in/">in</a>').encode()),
            "f.example/md/in/": ("text/html", inner.replace('"/"', '"/md/"').encode()),
            "f.example/md/1.xml": ("application/xml", iso(1).encode()),
            "f.example/md/in/2.xml": ("application/xml", iso(2).encode()),
        }
    )
    harvest(web, tmp_path / "c.db", "http://f.example/md/")
    assert numbers(tmp_path / "c.db") == {1, 2}
    assert not [each for each in web.asked if each.endswith((".txt", "f.example/"))]


@pytest.mark.parametrize(
    "page",
    [
        NGINX.format('<a href="0/">0/</a> <a href="a.png">a.png</a>'),
        "<title>Our index</title><a href='../'>../</a><a href='1.xml'>1.xml</a>",
        NGINX.replace("Index of", "The index of").format('<a href="1.xml">1.xml</a>'),
    ],
)
def test_other_folders_and_pages_are_no_pages_of_records(page: str) -> None:
    assert following(read(page, "text/html", "http://f.example/tiles/")) == []


# --------------------------------------------------------------------------- imagery


LAYERS = [
    {"name": "A", "type": "wms", "url": "https://m.example/a?LAYERS=x&BBOX={bbox}&SRS={proj}&WIDTH={width}"},
    {"name": "B", "type": "wms_endpoint", "url": "https://{switch:b,c}.m.example/b"},
    {"name": "C", "type": "wmts", "url": "https://m.example/c/WMTSCapabilities.xml"},
    {"name": "D", "type": "tms", "url": "https://m.example/{zoom}/{x}/{y}.png"},
    {"name": "E", "type": "wms", "url": "https://m.example/{apikey}/e?bbox={bbox}"},
]
SERVED = {
    ("wms", "https://m.example/a?LAYERS=x"),
    ("wms", "https://b.m.example/b"),
    ("wmts", "https://m.example/c/WMTSCapabilities.xml"),
}


def test_indexes_of_imagery_name_their_services() -> None:
    features = {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": each} for each in LAYERS]}
    assert kinds(read(json.dumps(features), "application/geo+json")) == SERVED
    assert kinds(read(json.dumps(LAYERS), "application/json")) == SERVED
    entries = "".join(
        f"<entry>{''.join(f'<{k}>{v}</{k}>'.replace('&', '&amp;') for k, v in each.items())}</entry>" for each in LAYERS
    )
    text = f'<imagery xmlns="http://josm.openstreetmap.de/maps-1.0">{entries}</imagery>'
    assert {each for each in kinds(read(text, "text/xml")) if each[0]} == SERVED


# --------------------------------------------------------------------------- Geoportal Server, data.json


def geoportal(query: str) -> Answer:
    """Seven data sets, three an answer, whatever is asked."""
    start = int(query.partition("from=")[2].partition("&")[0])
    shown = range(7)[start - 1 :][:3]
    sets = [
        {"title": f"{n}", "distribution": [{"accessURL": f"http://m.example/maps/{n}", "format": "WMS"}]} for n in shown
    ]
    return ("application/json", json.dumps({"dataset": sets, "totalResults": 7}).encode())


def test_a_geoportal_server_is_read_page_by_page_from_its_home(tmp_path: Path) -> None:
    home = ("text/html", b"<title>Esri Geoportal Server</title>")
    web = Answers({"g.example/geoportal/": home, "g.example/geoportal/opensearch": geoportal})
    harvest(web, tmp_path / "c.db", "http://g.example/geoportal/")
    assert numbers(tmp_path / "c.db") == set(range(7))


def test_a_home_page_leads_to_its_data_json(tmp_path: Path) -> None:
    sets = [
        {"title": "x", "distribution": [{"accessURL": f"http://m.example/maps/{n}", "format": "WMS"}]} for n in (1, 2)
    ]
    web = Answers(
        {
            "d.example/": ("text/html", b'<a href="/data.json">data.json</a>'),
            "d.example/data.json": ("application/json", json.dumps({"dataset": sets}).encode()),
        }
    )
    harvest(web, tmp_path / "c.db", "http://d.example/")
    assert numbers(tmp_path / "c.db") == {1, 2}


@pytest.mark.parametrize("base", ["arcgis", "server"])
def test_the_base_of_an_arcgis_server_leads_to_its_folders(tmp_path: Path, base: str) -> None:
    folder = {"currentVersion": 11.1, "folders": [], "services": [{"name": "roads", "type": "MapServer"}]}
    web = Answers({f"a.example/{base}/rest/services": ("application/json", json.dumps(folder).encode())})
    crawl(web, tmp_path / "c.db", f"http://a.example/{base}/", "bfs")
    assert f"http://a.example/{base}/rest/services/roads/MapServer" in asked(tmp_path / "c.db")


# --------------------------------------------------------------------------- errors of lists without a total

THREDDS = (
    'xmlns="http://www.unidata.ucar.edu/namespaces/thredds/InvCatalog/v1.0" xmlns:x="http://www.w3.org/1999/xlink"'
)


def thredds(*within: str, sets: Sequence[int] = ()) -> Answer:
    links = "".join(f'<catalogRef x:href="{each}" x:title="t"/>' for each in within)
    served = "".join(f'<dataset name="{n}" urlPath="{n}" serviceName="w"/>' for n in sets)
    service = '<service name="w" serviceType="WMS" base="http://m.example/maps/"/>'
    return "text/xml", f"<catalog {THREDDS}>{service}<dataset>{links}{served}</dataset></catalog>".encode()


def arcgis(*folders: str, services: Sequence[int] = ()) -> Answer:
    listed = [{"name": f"{n}", "type": "MapServer"} for n in services]
    return "application/json", json.dumps({"currentVersion": 11.1, "folders": folders, "services": listed}).encode()


def data_json(*numbers: int) -> Answer:
    sets = [
        {"title": "x", "distribution": [{"accessURL": f"http://m.example/maps/{n}?service=WMS", "format": "WMS"}]}
        for n in numbers
    ]
    return "application/json", json.dumps({"dataset": sets}).encode()


def imagery(*numbers: int) -> Answer:
    layers = [{"name": "A", "type": "wms", "url": f"https://m.example/maps/{n}?service=WMS&LAYERS=x"} for n in numbers]
    return "application/json", json.dumps(layers).encode()


def josm(*numbers: int) -> Answer:
    entries = (f"<entry><type>wms</type><url>https://m.example/maps/{n}?LAYERS=x</url></entry>" for n in numbers)
    return "text/xml", f'<imagery xmlns="http://josm.openstreetmap.de/maps-1.0">{"".join(entries)}</imagery>'.encode()


def turtle(*numbers: int) -> Answer:
    named = (
        f'<#{n}> a dcat:Distribution; dct:format "WMS"; dcat:accessURL <http://m.example/maps/{n}>.' for n in numbers
    )
    prefixes = "@prefix dcat: <http://www.w3.org/ns/dcat#>.\n@prefix dct: <http://purl.org/dc/terms/>."
    return "text/turtle", "\n".join([prefixes, *named, "# The end.\n"]).encode()


UNCOUNTED: dict[str, dict[str, Answer]] = {
    "DCAT in Turtle": {"catalog.ttl": turtle(1, 2, 3)},
    "folder of records": {
        "": ("text/html", NGINX.format('<a href="1.xml">1.xml</a> <a href="2.xml">2.xml</a>').encode()),
        "1.xml": ("application/xml", iso(1).encode()),
        "2.xml": ("application/xml", f"<r>{iso(2)}{iso(3)}</r>".encode()),
    },
    "THREDDS": {
        "catalog.xml": thredds("a/catalog.xml", "b/catalog.xml"),
        "a/catalog.xml": thredds("../catalog.xml", "../b/catalog.xml", sets=(1,)),
        "b/catalog.xml": thredds("../a/catalog.xml", "catalog.xml", sets=(2, 3)),
    },
    "folder of an ArcGIS Server": {
        "rest/services": arcgis("A", "B"),
        "rest/services/A": arcgis(services=(1,)),
        "rest/services/B": arcgis(services=(2, 3)),
    },
    "data.json": {"data.json": data_json(1, 2, 3)},
    "index of imagery": {"imagery.json": imagery(1, 2, 3)},
    "index of imagery (JOSM)": {"maps.xml": josm(1, 2, 3)},
}


def named(path: Path) -> set[int]:
    """The numbers of the services that were named, on any host."""
    return {int(found[1]) for each in asked(path) if (found := re.search(r"/(\d)(?:/MapServer)?\Z", each))}


@pytest.mark.parametrize("key", UNCOUNTED)
@pytest.mark.parametrize("wrong", ["500", "cut off"])
def test_a_list_without_a_total_keeps_what_was_read_and_is_not_called_whole(
    tmp_path: Path, key: str, wrong: str
) -> None:
    answers = {f"f.example/md/{name}": answer for name, answer in UNCOUNTED[key].items()}
    first, last = next(iter(answers)), list(answers)[-1]

    class Failing(Answers):
        is_wrong = True

        def respond(self, scheme: str, host: str, target: str) -> Response:
            answer = super().respond(scheme, host, target)
            if not self.is_wrong or host + target.partition("?")[0] != last:
                return answer
            return error_page(500) if wrong == "500" else answer._replace(body=answer.body[: len(answer.body) * 2 // 3])

    web = Failing(answers)
    report = harvest(web, tmp_path / "c.db", f"http://{first}")
    assert not report.is_whole and "Ended: all is read." not in report.lines()
    assert len(answers) == 1 or named(tmp_path / "c.db") >= {1}
    assert wrong == "500" or report.summary.records
    web.is_wrong = False
    report = harvest(web, tmp_path / "c.db", f"http://{first}")
    assert report.is_whole and named(tmp_path / "c.db") == {1, 2, 3}


LOGIN: Answer = ("text/html", b"<title>Sign in</title><form><input type=password></form>")
TOKEN: Answer = ("application/json", b'{"error": {"code": 499, "message": "Token Required", "details": []}}')


@pytest.mark.parametrize(
    ("key", "refusal"),
    [("folder of an ArcGIS Server", TOKEN), ("folder of an ArcGIS Server", LOGIN), ("THREDDS", LOGIN)],
)
def test_a_folder_that_wants_a_login_is_said_to_be_missing(tmp_path: Path, key: str, refusal: Answer) -> None:
    answers = {f"f.example/md/{name}": answer for name, answer in UNCOUNTED[key].items()}
    answers[list(answers)[-1]] = refusal
    report = harvest(Answers(answers), tmp_path / "c.db", f"http://{next(iter(answers))}")
    assert not report.is_whole and "not all records are read" in "\n".join(report.lines())
    assert named(tmp_path / "c.db") == {1}


def bucket(query: str) -> Answer:
    """A page of an object store: two records or a folder each, in either version of its API."""
    asked = dict(part.split("=", 1) for part in query.split("&") if part)
    keys = [f"md/{n}.xml" for n in (1, 2, 3)] + ["md/3.tif", "md/3.tif.aux.xml"]
    inside = [each for each in keys if each.startswith(asked.get("prefix", "").replace("%2F", "/"))]
    rest = [
        each for each in inside if each > asked.get("marker", asked.get("continuation-token", "")).replace("%2F", "/")
    ]
    contents = "".join(f"<Contents><Key>{each}</Key><Size>9</Size></Contents>" for each in rest[:2])
    more = "true" if rest[2:] else "false"
    token = f"<NextContinuationToken>{rest[1]}</NextContinuationToken>" if "list-type" in asked and rest[2:] else ""
    if "delimiter" in asked and "prefix" not in asked:
        contents, more, token = "<CommonPrefixes><Prefix>md/</Prefix></CommonPrefixes>", "false", ""
    listed = f"<Name>open</Name><IsTruncated>{more}</IsTruncated>{token}{contents}"
    return "application/xml", f'<ListBucketResult xmlns="http://s3.example/doc/">{listed}</ListBucketResult>'.encode()


def blobs(query: str) -> Answer:
    """A page of Azure Blob Storage."""
    numbers, following = ((3,), "") if "marker=m2" in query else ((1, 2), "m2")
    named = "".join(f"<Blob><Name>md/{n}.xml</Name></Blob>" for n in numbers)
    listed = f"<Blobs>{named}</Blobs><NextMarker>{following}</NextMarker>"
    return "application/xml", f'<?xml version="1.0"?><EnumerationResults>{listed}</EnumerationResults>'.encode()


STORES = {
    "first version": ("", bucket),
    "second version": ("?list-type=2&prefix=md%2F", bucket),
    "folders": ("?delimiter=%2F&metadata=", bucket),
    "Azure": ("?restype=container&comp=list", blobs),
}


@pytest.mark.parametrize("key", STORES)
def test_the_records_in_an_object_store_are_read_to_its_last_page(tmp_path: Path, key: str) -> None:
    query, listing = STORES[key]
    records = {f"s.example/open/md/{n}.xml": ("application/xml", iso(n).encode()) for n in (1, 2, 3)}
    web = Answers({"s.example/open": listing, **records})
    report = harvest(web, tmp_path / "c.db", f"http://s.example/open{query}")
    assert report.is_whole and named(tmp_path / "c.db") == {1, 2, 3}
    assert not any("aux" in each for each in web.asked)


def test_an_object_store_of_pictures_is_not_called_read(tmp_path: Path) -> None:
    contents = "<IsTruncated>true</IsTruncated><Contents><Key>1.tif</Key></Contents>"
    web = Answers({"s.example/open": ("application/xml", f"<ListBucketResult>{contents}</ListBucketResult>".encode())})
    assert not harvest(web, tmp_path / "c.db", "http://s.example/open").is_whole


HELP = b'<a href="/help/wms?service=WMS&request=GetCapabilities">Help</a>'


@pytest.mark.parametrize("target", ["/login?next=/b", "http://sso.example/auth"])
def test_a_folder_that_sends_its_readers_to_a_login_is_said_to_be_missing(tmp_path: Path, target: str) -> None:
    """The login has an address that is never visited, or names a service beside its form."""

    class Closed(Answers):
        def respond(self, scheme: str, host: str, path: str) -> Response:
            answer = super().respond(scheme, host, path)
            return (
                answer._replace(status=302, headers=[("Location", target)]) if path == "/md/b/catalog.xml" else answer
            )

    answers = {f"f.example/md/{name}": answer for name, answer in UNCOUNTED["THREDDS"].items()}
    web = Closed(answers | {"sso.example/auth": ("text/html", LOGIN[1] + HELP)})
    report = harvest(web, tmp_path / "c.db", f"http://{next(iter(answers))}")
    assert not report.is_whole and "not all records are read" in "\n".join(report.lines())
    assert named(tmp_path / "c.db") == {1}
