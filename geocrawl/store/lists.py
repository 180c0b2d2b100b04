"""Name the elements of a list that a statement gets as JSON, in the SQL of both engines."""

from __future__ import annotations


def listed(placeholder: str) -> str:
    """Return the elements of a JSON list of numbers as a subquery: `id IN (SELECT …)`."""
    return f"(SELECT CAST(value AS BIGINT) FROM json_each({placeholder}))"  # noqa: S608 our own placeholder
