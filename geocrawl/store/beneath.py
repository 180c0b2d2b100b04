"""Ask the database for a host and for all that lies beneath it.

A name may hold `_`, which LIKE takes for any character, so names are compared as they are.
"""

from __future__ import annotations


def is_or_lies_beneath(column: str, parameter: str) -> str:
    """Return the SQL condition that the host in `column` is the one that `parameter` names, or lies beneath it."""
    return f"({column} = {parameter} OR substr({column}, -length({parameter}) - 1) = '.' || {parameter})"
