"""Guesses are made once at each host, and only so many hosts are remembered, so that a crawl of millions has room."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from geocrawl.crawler import guesses
from geocrawl.crawler.guesses import Guesses, ScriptBudget
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


def test_the_scripts_of_the_oldest_host_are_forgotten_when_hosts_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "_MOST_HOSTS", 2)
    budget = ScriptBudget(1, 10)

    def admits(host: str, name: str) -> bool:
        script = page("x" * 10, address=f"http://{host}/{name}.js")
        is_admitted = budget.admits(script.url)
        budget.note(script, pays=True)
        return is_admitted

    assert admits("one.example", "a") and admits("two.example", "a")
    assert not admits("one.example", "b"), "its bytes are used up"
    assert admits("three.example", "a")
    assert admits("one.example", "b"), "it was the oldest of three"
    assert not admits("three.example", "b")
