"""What most strategies have in common: the parts of `ports.Strategy` that a strategy need not write again.

A strategy says in its own file what is different. One that learns overrides `learn`, `revise`, `dump` and `load`
together: what the one takes in, the others must give back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from geocrawl.model import Feedback, Rank


class Defaults:
    """Serves one link at a time, asks for nothing that costs time, learns nothing and keeps nothing."""

    name: str
    stride: int = 1
    by_depth: bool = False
    needs: frozenset[str] = frozenset()
    learns: bool = False

    def learn(self, feedback: Feedback) -> None:
        """Nothing."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """None: a rank never changes."""
        return None

    def dump(self) -> bytes:
        """Nothing to keep."""
        return b""

    def load(self, state: bytes) -> None:
        """Nothing to take up."""
