"""Cache the values that were used last, in bounded memory."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class TwoGenerations(Generic[K, V]):
    """A cache of at most 2 x `size` entries that costs one dictionary look-up on a hit.

    What is found in the old generation moves to the young one; when that is full, it becomes the old one and the former
    old one is dropped: least recently used, in coarse steps, without moving anything on most hits.
    """

    __slots__ = ("_old", "_size", "_young")

    def __init__(self, size: int) -> None:
        self._size = size
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return the entry of a key; None when there is none."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Remember or replace an entry."""
        if len(self._young) >= self._size:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def clear(self) -> None:
        """Drop all entries."""
        self._young.clear()
        self._old.clear()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
