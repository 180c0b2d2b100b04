"""No text of a stranger makes a reader or a probe raise, and what they return is well-formed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import pytest

from geocrawl.page.document import PageReader
from geocrawl.probe.registry import probes
from tests.attacks.hostile_text import documents
from tests.support.interviews import interview
from tests.support.pages import page


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
        reader = PageReader(headline=True, prose=True, max_scripts=5)
        assert _ill_formed(reader.read(page(body, content_type, address), depth=1)) == []


@pytest.mark.parametrize(("name", "content_type", "body"), [pytest.param(*each, id=each[0]) for each in documents()])
def test_every_probe_judges_in_well_formed_text(name: str, content_type: str, body: bytes) -> None:
    for probe in probes():
        assert _ill_formed(interview(probe, body, content_type)) == [], probe.kind
