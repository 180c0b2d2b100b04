"""Values of JSON documents as what they should be, whatever they are."""

from __future__ import annotations

from typing import Any

MAX_CHARS = 2_000


def text_of(value: Any, *names: str) -> str:
    """A text, or the first of these members of an object that is one; of texts by language any; '' for all else."""
    if isinstance(value, str):
        return value[:MAX_CHARS]
    if isinstance(value, list) and value:
        return text_of(value[0], *names)
    if isinstance(value, dict):
        members = [value.get(name) for name in names] if names else list(value.values())[:1]
        return next((member[:MAX_CHARS] for member in members if isinstance(member, str) and member), "")
    return ""


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; of one object a list of itself; else none."""
    if isinstance(value, dict):
        return [value]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def number(value: Any, default: int = -1) -> int:
    """A whole number, also one written as text; `default` for all else."""
    if isinstance(value, bool):
        return default
    if isinstance(value, int):
        return value
    if isinstance(value, str) and len(value) < 12 and value.isdecimal():
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else default
