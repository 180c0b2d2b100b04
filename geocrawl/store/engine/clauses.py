"""Write clauses of statements that are text: the elements of a list, a host with its subdomains.

A host's name may hold `_`, which LIKE takes for any character, so names are compared as they are.
"""

from __future__ import annotations


def listed(placeholder: str) -> str:
    """Return the elements of a JSON list of numbers as a subquery: `id IN (SELECT …)`."""
    return f"(SELECT CAST(value AS BIGINT) FROM json_each({placeholder}))"  # noqa: S608 our own placeholder


def is_host_or_subdomain(column: str, parameter: str) -> str:
    """Return the SQL condition that the host in `column` is the one that `parameter` names, or a subdomain of it."""
    name = f"CAST({parameter} AS TEXT)"
    last = f"substr({column}, length({column}) - length({name}), length({name}) + 1)"
    return f"({column} = {name} OR {last} = '.' || {name})"
