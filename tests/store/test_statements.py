"""What every statement of the package keeps to, whichever room it stands in."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "geocrawl"
_INSERT = re.compile(r"\bINSERT(?:\s+OR\s+\w+)?\s+INTO\s+([\w.]+)(\s*\()?")


def test_every_insert_names_its_columns() -> None:
    inserts = [
        (file.relative_to(PACKAGE).as_posix(), found[1], found[2] is not None)
        for file in sorted(PACKAGE.rglob("*.py"))
        for found in _INSERT.finditer(file.read_text(encoding="utf-8"))
    ]
    assert len(inserts) > 10
    assert [(file, table) for file, table, names_columns in inserts if not names_columns] == []
