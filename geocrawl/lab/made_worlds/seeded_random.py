"""Make deterministic random generators, seeded by name."""

from __future__ import annotations

import random


def seeded_rng(*name: object) -> random.Random:
    """Return a random generator seeded by its name alone, whatever the process and whatever was drawn elsewhere."""
    return random.Random(" ".join(map(str, name)))  # noqa: S311 - not used for security
