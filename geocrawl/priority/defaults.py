"""Define what most strategies have in common: the parts of `ports.Strategy` that a strategy need not write again.

A strategy says in its own file what is different. One that learns overrides `learn`, `revise`, `dump` and `load`
together: what `learn` adds, `dump` must write and `load` restore.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geocrawl.model import Feedback, Rank


class Defaults:
    """A strategy that is served one link at a time, needs nothing made on request, learns nothing and keeps nothing."""

    name: str
    stride: int = 1
    by_depth: bool = False
    needs: frozenset[str] = frozenset()
    learns: bool = False

    def learn(self, feedback: Feedback) -> None:
        """Ignore the feedback."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return None: a rank never changes."""
        return None

    def dump(self) -> bytes:
        """Return b"": there is nothing to keep."""
        return b""

    def load(self, state: bytes) -> None:
        """Ignore the state."""
