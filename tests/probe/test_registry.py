"""What kinds declare: loaded without readers, and no sign that two kinds claim."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import geocrawl.probe
from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration
from geocrawl.probe.registry import (
    REGISTRY,
    content_checks,
    declaration,
    declarations,
    kinds_with_content,
    probes,
)


def test_every_kind_is_registered_once_under_its_own_name() -> None:
    assert sorted(each.kind for each in REGISTRY) == sorted(Kind)
    assert [each.kind for each in declarations()] == [each.kind for each in REGISTRY]
    assert [probe.kind for probe in probes()] == [each.kind for each in REGISTRY]
    assert {check.kind for check in content_checks(layers=1)} == kinds_with_content()


@pytest.mark.parametrize(
    "signs",
    [
        lambda each: each.services,
        lambda each: each.requests,
        lambda each: each.old_requests,
        lambda each: each.roots | each.error_roots,
        lambda each: {name.rpartition("/")[2] for name in each.namespaces},
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


def test_no_folder_of_a_kind_imports_another_and_no_shared_file_imports_one() -> None:
    room = Path(geocrawl.probe.__file__).parent
    for file in room.rglob("*.py"):
        own = file.relative_to(room).parts[0]
        named = set(re.findall(r"geocrawl\.probe\.(\w+)", file.read_text(encoding="utf-8")))
        assert named & set(Kind) <= {own}, file


def test_what_a_kind_declares_is_found_by_its_name() -> None:
    assert declaration(Kind.CSW).items == ("record type", "record types")


def test_declarations_and_the_detector_are_loaded_without_readers() -> None:
    code = (
        "import sys\n"
        "from geocrawl.detect import Detector\n"
        "from geocrawl.probe.registry import declarations\n"
        "from geocrawl.urls import read_url\n"
        "assert Detector(declarations()).of_url(read_url('http://a.example/wms')) is not None\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"lxml", "owslib", "shapely", "numpy", "PIL", "geocrawl.formats.json"}
    of_kinds = {f"geocrawl.probe.{kind}.{part}" for kind in Kind for part in ("probe", "reader", "content")}
    assert not loaded & of_kinds
