"""The rooms are as `docs/architecture.md` says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.places import ROOT


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the full name of every module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_no_test_imports_a_measurement() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert len(files) > 100
    importing = [
        str(path.relative_to(ROOT))
        for path in files
        if any(module.partition(".")[0] == "benchmarks" for module in imported_modules(path))
    ]
    assert importing == []
