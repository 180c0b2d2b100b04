"""Make SQL conditions for a host and its subdomains.

A name may hold `_`, which LIKE takes for any character, so names are compared as they are.
"""

from __future__ import annotations


def is_host_or_subdomain(column: str, parameter: str) -> str:
    """Return the SQL condition that the host in `column` is the one that `parameter` names, or a subdomain of it."""
    name = f"CAST({parameter} AS TEXT)"
    last = f"substr({column}, length({column}) - length({name}), length({name}) + 1)"
    return f"({column} = {name} OR {last} = '.' || {name})"
