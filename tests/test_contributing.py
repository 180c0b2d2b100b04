"""The worked examples of CONTRIBUTING.md do what the text says."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from geocrawl.errors import UsageError
from geocrawl.model import (
    Candidate,
    Document,
    Endpoint,
    Evidence,
    Feedback,
    Kind,
    Link,
    Page,
    Purpose,
    Rank,
    State,
    Status,
    Url,
    Verdict,
)
from geocrawl.ports import Interview, Probe, Strategy
from geocrawl.priority import registry
from geocrawl.urls import endpoint_key, read_url

TEXT = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def _block(part: str) -> str:
    """The block of Python code that contains `part`."""
    blocks: list[str] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    return next(block for block in blocks if part in block)


def _example(name: str) -> Any:
    """The class of this name, from the block of code that defines it."""
    source = _block(f"class {name}")
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(source, "CONTRIBUTING.md", "exec"), namespace)
    return namespace[name]


def _url(text: str) -> Url:
    url = read_url(text)
    assert url is not None
    return url


@pytest.fixture
def by_finds(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Strategy]:
    """Make the strategy of the text by the registry, to which the line of the text was added."""
    module = ModuleType("geocrawl.priority.by_finds")
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


WPS = b"""<wps:Capabilities version="1.0.0" xmlns:wps="http://www.opengis.net/wps/1.0.0"
 xmlns:ows="http://www.opengis.net/ows/1.1"><wps:ProcessOfferings><wps:Process><ows:Identifier>buffer</ows:Identifier>
<ows:Title>Buffer</ows:Title></wps:Process></wps:ProcessOfferings></wps:Capabilities>"""


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (WPS, Status.VALID, "ok"),
        (WPS.replace(b"/wps/", b"/sps/"), Status.INVALID, "other-kind"),
        (b"plain text", Status.INVALID, "not-capabilities"),
    ],
)
def test_the_probe_asks_once_and_gives_a_verdict(body: bytes, status: Status, reason: str) -> None:
    probe: Probe = _example("WpsProbe")()
    url = _url("http://maps.example.org/wps")
    candidate = Candidate(Endpoint(Kind.WPS, endpoint_key(url), url), Evidence("given"))
    assert probe.recognise(candidate) == 1.0
    interview = probe.interview(candidate)
    asked = next(interview).url
    assert asked.address == "http://maps.example.org/wps?SERVICE=WPS&REQUEST=GetCapabilities"
    verdict = _answer(interview, Page(asked, asked, 200, {}, body, 1.0, 0.0))
    assert (verdict.status, verdict.reason) == (status, reason)
    if verdict.service is not None:
        assert [(layer.name, layer.title) for layer in verdict.service.layers] == [("buffer", "Buffer")]


def _answer(interview: Interview, page: Page) -> Verdict:
    with pytest.raises(StopIteration) as end:
        interview.send(page)
    verdict: Verdict = end.value.value
    return verdict
