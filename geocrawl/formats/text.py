"""White space in strangers' text."""

from __future__ import annotations


def fold(text: str, limit: int) -> str:
    """Return `text` with every run of white space made one space, stripped, and cut to `limit` characters."""
    return " ".join(text.split())[:limit].rstrip()
