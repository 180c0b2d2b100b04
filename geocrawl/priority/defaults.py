"""Define defaults for the parts of `ports.Strategy` that most strategies have in common.

A strategy overrides only what differs. A strategy that learns overrides `learn`, `revise`, `dump` and `load`
together: what `learn` adds, `dump` must write and `load` restore.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geocrawl.model import Feedback, Rank


class Defaults:
    """A strategy that leases one link at a time, needs no optional part of a document, learns nothing, has no state."""

    name: str
    stride: int = 1
    by_depth: bool = False
    by_yield: bool = False
    needs: frozenset[str] = frozenset()
    learns: bool = False

    def learn(self, feedback: Feedback) -> None:
        """Ignore the feedback."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return None: a rank never changes."""
        return None

    def dump(self) -> bytes:
        """Return b"": there is no state."""
        return b""

    def load(self, state: bytes) -> None:
        """Ignore the state."""
