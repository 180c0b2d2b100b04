"""Guesses are made once at each host, and only so many hosts are remembered, so that a crawl of millions has room."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from geocrawl.crawler import guesses
from geocrawl.crawler.guesses import Guesses
from geocrawl.detect import Detector
from geocrawl.model import Candidate, Link
from geocrawl.probe.registry import declarations
from tests.support.pages import page


def test_the_oldest_host_is_forgotten_when_too_many_were_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "_MOST_HOSTS", 2)
    made = Guesses(Detector(declarations()), 3)

    def at(host: str) -> Sequence[Candidate | Link]:
        return made.of_page(page("<html></html>", address=f"http://{host}/geoserver/web/"))

    assert at("one.example") and at("two.example")
    assert not at("one.example"), "two hosts are remembered"
    assert at("three.example")
    assert not at("two.example") and not at("three.example")
    assert at("one.example"), "it was the oldest of three"
