"""The worked examples of CONTRIBUTING.md do what the text says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import geocrawl
from geocrawl.errors import UsageError
from geocrawl.model import (
    Document,
    Feedback,
    Item,
    Kind,
    Layer,
    Link,
    Purpose,
    Rank,
    Service,
    State,
    Url,
)
from geocrawl.ports import Strategy
from geocrawl.priority import registry
from geocrawl.urls import read_url
from tests.support import examples
from tests.support.world import World, candidate, verdict

TEXT = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def _block(part: str) -> str:
    """The block of Python code that contains `part`."""
    blocks: list[str] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    return next(block for block in blocks if part in block)


def _url(text: str) -> Url:
    url = read_url(text)
    assert url is not None
    return url


@pytest.fixture
def by_finds(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Strategy]:
    """Make the strategy of the text by the registry, to which the line of the text was added."""
    module = ModuleType("geocrawl.priority.strategies.by_finds")
    exec(compile(_block("class ByFinds"), "CONTRIBUTING.md", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    declared = eval("{" + _block('"by-finds": Declaration') + "}", {"Declaration": registry.Declaration})
    monkeypatch.setattr(registry, "STRATEGIES", {**registry.STRATEGIES, **declared})
    return lambda: registry.make_strategy("by-finds", {"by-finds.most": "1"})


def test_the_strategy_ranks_every_link_and_survives_a_restart(by_finds: Callable[[], Strategy]) -> None:
    strategy = by_finds()
    page = _url("http://www.example.org/")
    links = (Link(_url("http://maps.example.org/a")), Link(_url("http://www.example.org/b")))
    document = Document(page, 0, 200, "text/html", "utf-8", "Maps", "", links)
    assert strategy.judge(document).ranks == (Rank(0), Rank(0))
    features = strategy.judge(document).features
    strategy.learn(Feedback(1, 1, Purpose.PAGE, 0, None, State.VISITED, "ok", features=features))
    for number in (2, 3, 4):
        strategy.learn(Feedback(number, number, Purpose.PROBE, 0, 1, State.VISITED, "ok", valid=number > 2))
    again = by_finds()
    again.load(strategy.dump())
    assert again.judge(document).ranks == (Rank(0), Rank(1))
    assert again.revise() is None


def test_the_strategy_is_listed_with_its_options(by_finds: Callable[[], Strategy]) -> None:
    assert registry.strategies()["by-finds"] == "hosts whose pages led to a service first"
    assert registry.strategy_options("by-finds")["most"].default == 9
    with pytest.raises(UsageError, match="expected a whole number"):
        registry.make_strategy("by-finds", {"by-finds.most": "many"})


TRY_THE_NEW_KIND = """
from geocrawl.detect import Detector
from geocrawl.model import Page
from geocrawl.probe.registry import declarations, probes
from geocrawl.urls import read_url

CAPABILITIES = b'''<sps:Capabilities version="2.0.0" xmlns:sps="http://www.opengis.net/sps/2.0"
 xmlns:swes="http://www.opengis.net/swes/2.0"><sps:contents><sps:SPSContents><swes:offering><sps:SensorOffering>
<swes:identifier>camera</swes:identifier></sps:SensorOffering></swes:offering></sps:SPSContents></sps:contents>
</sps:Capabilities>'''

def verdict(kind, address, body):
    url = read_url(address)
    probe = next(probe for probe in probes() if probe.kind == kind)
    interview = probe.interview(Detector(declarations()).candidate_at(url, kind))
    asked = next(interview).url
    print("asked", asked.address)
    try:
        interview.send(Page(asked, asked, 200, {}, body, 1.0, 0.0))
    except StopIteration as end:
        print(end.value.status, end.value.reason, *[lead.endpoint.kind for lead in end.value.leads])
        print(*[layer.name for layer in end.value.service.layers] if end.value.service else [])

detector = Detector(declarations())
for address in ("http://a.example/52n/sps", "http://a.example/x?service=SPS&request=GetCapabilities"):
    found = detector.of_url(read_url(address))
    print(found.endpoint.kind, found.weak)
verdict("sps", "http://a.example/sps", CAPABILITIES)
verdict("sps", "http://a.example/sps", CAPABILITIES.replace(b"/sps/", b"/sos/"))
verdict("wfs", "http://a.example/sps", CAPABILITIES)
"""
EXPORT_THE_NEW_KIND = """
import io
from dataclasses import replace
from geocrawl.export.dcat import write_turtle
from geocrawl.export.iso import protocol_of
from geocrawl.model.catalogue import Service
from geocrawl.web.records.record import _links

service = Service(id=1, kind="sps", title="title", version="2.0.0", url="http://a.example/sps", host="a.example")
stream = io.StringIO()
write_turtle([service], stream)
print(*[line.strip() for line in stream.getvalue().splitlines() if "/sps" in line and "endpoint" in line])
print("serviceType/ogc/sps" in stream.getvalue(), protocol_of(service))
print({each["type"] for each in _links(service, "") if each["title"] == "SPS"})
"""


READ_THE_NEW_KIND = """
from geocrawl.page.naming import kind_in_label, kind_in_name, kind_of_protocol, may_be_service
from geocrawl.priority.strategies.ipagerank import shipped_thesaurus
from geocrawl.store.catalogue.search.vocabulary import shipped_vocabulary
from geocrawl.urls import StopRules, read_url, server_key

print(kind_in_name("spsUrl"), kind_in_name("SensorPlanningService"), kind_of_protocol("OGC:SPS"))
print(may_be_service("http://a.example/sps?x=1"), may_be_service("http://a.example/corps"))
named = shipped_vocabulary().kinds
print(*named["sps",], *named["sps", "services"], *named["sensor", "planning", "service"])
print(shipped_thesaurus().similarity("sensor planning service", "wms"))
print(StopRules.load().reason(read_url("http://a.example/a.png?service=SPS&request=Submit")) or "visited")
print(server_key("a.example/52n/sps") == server_key("a.example/52n/wms"))
"""


@pytest.fixture(scope="module")
def copy_with_the_new_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of geocrawl with the file and the lines that the text gives."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(geocrawl.__file__).parent, root / "geocrawl", ignore=shutil.ignore_patterns("__pycache__"))
    examples.add_kind(root)
    return root


def test_the_file_of_the_text_is_the_one_that_is_shipped(copy_with_the_new_kind: Path) -> None:
    shipped = Path(geocrawl.__file__).parent / "probe" / "kinds" / "sps.py"
    assert (copy_with_the_new_kind / "geocrawl" / "probe" / "kinds" / "sps.py").read_text() == shipped.read_text()


def _in(root: Path, *arguments: str | Path) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_file_and_one_line_make_a_kind_that_is_recognised_proved_and_named(copy_with_the_new_kind: Path) -> None:
    assert _in(copy_with_the_new_kind, "-c", TRY_THE_NEW_KIND).splitlines() == [
        "sps True",
        "sps False",
        "asked http://a.example/sps?SERVICE=SPS&REQUEST=GetCapabilities",
        "valid ok",
        "camera",
        "asked http://a.example/sps?SERVICE=SPS&REQUEST=GetCapabilities",
        "invalid other-kind sos",
        "",
        "asked http://a.example/sps?SERVICE=WFS&REQUEST=GetCapabilities",
        "invalid other-kind sps",
        "",
    ]


def test_pages_addresses_and_queries_name_the_new_kind_by_its_line(copy_with_the_new_kind: Path) -> None:
    assert _in(copy_with_the_new_kind, "-c", READ_THE_NEW_KIND).splitlines() == [
        "sps sps sps",
        "True False",
        "sps sps sps",
        "0.8",
        "visited",
        "False",
    ]


def test_nothing_names_the_new_kind_but_its_file_its_line_and_the_demo() -> None:
    room = Path(geocrawl.__file__).parent
    files = [path for form in ("*.py", "*.toml", "*.html", "*.js", "*.json") for path in room.rglob(form)]
    naming = [path.relative_to(room) for path in files if re.search(r"\bsps\b", path.read_text("utf-8"), re.IGNORECASE)]
    assert {str(path) for path in naming if path.parts[0] != "demo"} == {
        "probe/kinds/sps.py",
        "model/kinds.py",
    }


def test_exports_and_records_name_the_new_kind_by_its_declaration(copy_with_the_new_kind: Path) -> None:
    described = "dcat:endpointDescription <http://a.example/sps?SERVICE=SPS&REQUEST=GetCapabilities> ;"
    assert _in(copy_with_the_new_kind, "-c", EXPORT_THE_NEW_KIND).splitlines() == [
        f"dcat:endpointURL <http://a.example/sps> ; {described}",
        "True OGC:SPS",
        "{'application/xml'}",
    ]


def test_a_search_finds_the_new_kind_and_its_page_says_how_it_is_used(
    copy_with_the_new_kind: Path, tmp_path: Path
) -> None:
    database, site = tmp_path / "c.db", tmp_path / "site"
    world = World(database)
    world.seed("a.example/")
    named = candidate("http://a.example/sps")
    named = replace(named, endpoint=replace(named.endpoint, kind=Kind.SPS))
    world.visit(candidates=[(named, None)])
    cameras = Layer("camera", "Camera", item=Item.OFFERING)
    world.settle(world.lease(), verdict=verdict(service=Service(Kind.SPS, "2.0.0", "Bridges", layers=(cameras,))))
    world.database.close()
    told = _in(copy_with_the_new_kind, "-m", "geocrawl", "publish", "sps", "services", "--out", site, "--db", database)
    assert told.startswith("1 service published")
    shown = (site / "services" / "0" / "1.html").read_text("utf-8")
    for words in ("OGC Sensor Planning Service 2.0.0", "Camera", "SERVICE=SPS&amp;REQUEST=GetCapabilities"):
        assert words in shown
    assert (site / "services.csv").read_text("utf-8").splitlines()[1].startswith("http://a.example/sps,sps,valid,")


def test_the_commands_know_the_new_kind(copy_with_the_new_kind: Path) -> None:
    told = _in(copy_with_the_new_kind, "-m", "geocrawl", "kinds")
    assert "OGC Sensor Planning Service" in told and "a path like /52n-sps/sps" in told


def test_the_new_command_answers_from_the_catalogue(tmp_path: Path) -> None:
    shutil.copytree(Path(geocrawl.__file__).parent, tmp_path / "geocrawl", ignore=shutil.ignore_patterns("__pycache__"))
    examples.add_command(tmp_path)
    world = World(tmp_path / "c.db")
    for name in ("a", "b"):
        world.seed(f"{name}.example/")
        named = candidate(f"http://{name}.example/wms")
        world.visit(candidates=[(named, None)])
        service = Service(Kind.WMS, "1.3.0", f"Maps of {name}", provider="Land office", fingerprint=name)
        world.settle(world.lease(), verdict=verdict(service=service))
    world.database.close()
    told = _in(tmp_path, "-m", "geocrawl", "providers", "--json", "--db", "c.db")
    assert json.loads(told) == [{"provider": "Land office", "services": 2}]
    assert "Land office" in _in(tmp_path, "-m", "geocrawl", "providers", "--db", "c.db")
    assert "--limit" in _in(tmp_path, "-m", "geocrawl", "providers", "--help")
