"""Lots that are drawn the same way every time."""

from __future__ import annotations

import random


def seeded_rng(*name: object) -> random.Random:
    """A source of lots that hangs on its name alone, not on the process or on what was drawn elsewhere."""
    return random.Random(" ".join(map(str, name)))  # noqa: S311 - no secret hangs on it
