"""Asking for a document in one form after another, until one is answered with more than a page for people."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable

from geocrawl.model import Failure, Page, Url
from geocrawl.ports import Ask
from geocrawl.probe.json_answer import JsonAnswer, ReadJson, examine_json
from geocrawl.urls import with_parameters

FOR_PEOPLE = frozenset({"html", "empty", "not-json", "http-406"})
"""What a server sends that would send JSON if it were asked in another form."""

Asking = Generator[Ask, Page | Failure, list[JsonAnswer]]


def in_turn(urls: Iterable[Url], read: ReadJson, goes_on: Collection[str] = FOR_PEOPLE) -> Asking:
    """Ask for these until the answer's reason is none that `goes_on`; returns all answers, the last one decides."""
    answers: list[JsonAnswer] = []
    for url in urls:
        answers.append(examine_json((yield Ask(url)), read))
        if answers[-1].finding.reason not in goes_on:
            break
    return answers


def plain_then_json(endpoint: Url) -> tuple[Url, Url]:
    """The address as it is, then with `f=json`."""
    return endpoint, with_parameters(endpoint, {"f": "json"})
