"""What kinds declare: no sign that two kinds claim."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import geocrawl.probe
from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration
from geocrawl.probe.registry import (
    content_checks,
    declaration,
    declarations,
    kinds_with_content,
    probes,
)


def test_every_kind_has_a_file_of_its_own_name() -> None:
    assert sorted(each.kind for each in declarations()) == sorted(Kind)
    assert [probe.kind for probe in probes()] == [each.kind for each in declarations()]
    assert {check.kind for check in content_checks(layers=1)} == kinds_with_content()


@pytest.mark.parametrize(
    "signs",
    [
        lambda each: each.services,
        lambda each: each.requests,
        lambda each: each.old_requests,
        lambda each: each.roots | each.error_roots,
        lambda each: each.namespaces,
        lambda each: {each.operation} - {""},
        lambda each: each.sections,
        lambda each: each.keys,
    ],
)
def test_no_two_kinds_claim_the_same_sign(signs: object) -> None:
    assert callable(signs)
    claimed = Counter(sign for each in declarations() for sign in signs(each))
    assert claimed and set(claimed.values()) == {1}


@pytest.mark.parametrize("declared", declarations(), ids=lambda each: each.kind)
def test_addresses_are_declared_in_lower_case_with_their_hint_in_the_example(declared: KindDeclaration) -> None:
    for form in declared.paths:
        assert form.hint == form.hint.lower() and form.query == form.query.lower()
        assert form.hint in form.example.lower().partition("example.")[2], form.name
    for texts in (declared.services, declared.requests, declared.roots, declared.error_roots):
        assert texts == {text.lower() for text in texts}


def test_no_file_of_a_kind_imports_another_and_no_shared_file_imports_one() -> None:
    room = Path(geocrawl.probe.__file__).parent
    for file in room.rglob("*.py"):
        parts = file.relative_to(room).with_suffix("").parts
        own = set(parts[1:2]) if parts[0] == "kinds" else set()
        assert set(re.findall(r"geocrawl\.probe\.kinds\.(\w+)", file.read_text(encoding="utf-8"))) <= own, file


def test_what_a_kind_declares_is_found_by_its_name() -> None:
    assert declaration(Kind.CSW).items == ("record type", "record types")
