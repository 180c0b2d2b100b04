"""No text of a stranger makes a reader or a probe raise, and what they return is well-formed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from geocrawl.detect import Detector
from geocrawl.model import Candidate, Endpoint, Evidence, Rank, RankedLink, State, Visit
from geocrawl.page.document import PageReader
from geocrawl.probe.registry import declarations, probes
from geocrawl.settings import Settings
from tests.attacks.hostile_text import documents
from tests.support.interviews import interview
from tests.support.pages import page, url
from tests.support.samples import sampled
from tests.support.world import World


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a value of the model."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            yield from _texts(getattr(value, each.name))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(key)
            yield from _texts(each)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for each in value:
            yield from _texts(each)


def _ill_formed(value: object) -> list[str]:
    return [text for text in _texts(value) if "\0" in text or text.encode("utf-8", "replace").decode() != text]


@pytest.mark.parametrize(("name", "content_type", "body"), [pytest.param(*each, id=each[0]) for each in documents()])
def test_a_page_is_read_into_well_formed_text(name: str, content_type: str, body: bytes) -> None:
    for address in ("http://h.example/d/p", "http://h.example/q?_content_type=json&from=1&to=10"):
        reader = PageReader(headline=True, prose=True, tag_paths=True, max_scripts=5)
        assert _ill_formed(reader.read(page(body, content_type, address), depth=1)) == []


@pytest.mark.parametrize(("name", "content_type", "body"), [pytest.param(*each, id=each[0]) for each in documents()])
def test_every_probe_judges_in_well_formed_text(name: str, content_type: str, body: bytes) -> None:
    for probe in probes():
        assert _ill_formed(interview(probe, body, content_type)) == [], probe.kind


@pytest.mark.parametrize("offset", sampled(range(4), 0))
def test_every_page_and_every_verdict_can_be_settled(tmp_path: Path, offset: int) -> None:
    world = World(tmp_path / "c.db", Settings(delay_s=0.0))
    detector = Detector(declarations())
    for number, (_, content_type, body) in enumerate(documents()[offset::4]):
        address = f"http://h{number}.example/d/p"
        document = PageReader().read(page(body, content_type, address), depth=0)
        world.seed(address)
        world.frontier.settle(
            _visit(world)._replace(
                title=document.title,
                links=tuple(RankedLink(link, Rank(0, 0.0)) for link in document.links),
                candidates=tuple((candidate, None) for candidate, _ in detector.candidates(document)),
            )
        )
        for probe in probes():
            verdict = interview(probe, body, content_type)
            given = Endpoint(probe.kind, f"{address}/{probe.kind}", url(f"{address}/{probe.kind}"))
            world.frontier.add_candidates([Candidate(given, Evidence("given"))])
            title = verdict.service.title if verdict.service else ""
            world.frontier.settle(_visit(world)._replace(reason=verdict.reason, title=title, verdict=verdict))


def _visit(world: World) -> Visit:
    """Return the visit of whatever is leased next, with nothing but its end."""
    lease = world.lease()
    return Visit(lease=lease, state=State.VISITED, reason="ok", host=lease.host, at=world.clock.now(), http_status=200)
