"""Define a deviation: what was tolerated of an answer, or of the way by which it came."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deviation:
    """A departure from the standard that was tolerated."""

    code: str
    detail: str = ""
