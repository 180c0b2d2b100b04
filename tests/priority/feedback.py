"""Make feedback for the tests of strategies that learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from geocrawl.model import Feedback, Purpose, State


def feedback(
    entry_id: int,
    links: Sequence[tuple[str, int]] = (),
    features: bytes = b"",
    *,
    reason: str = "ok",
    state: State = State.VISITED,
    number: int = 0,
) -> Feedback:
    """Of a page that was read."""
    return Feedback(number, entry_id, Purpose.PAGE, 1, None, state, reason, None, tuple(links), features)


def approx(score: float, *, abs: float = 1e-6) -> Any:
    """For the score of a `Rank`, whose type is a float's."""
    return pytest.approx(score, abs=abs)
