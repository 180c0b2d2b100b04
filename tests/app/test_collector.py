"""The garbage collector during a long run."""

from __future__ import annotations

import gc
import weakref

from geocrawl.resources import long_run


class Node:
    """Refers to itself, so only the collector can free it."""

    def __init__(self) -> None:
        self.self = self


def test_the_collector_is_as_it_was_after_a_run_that_fails() -> None:
    before = gc.get_threshold()
    try:
        with long_run():
            assert gc.get_threshold() != before
            assert gc.get_freeze_count() > 0
            raise KeyError
    except KeyError:
        pass
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_cycles_made_during_a_run_are_freed() -> None:
    with long_run():
        node = Node()
        gone = weakref.ref(node)
        del node
        for _ in range(300_000):
            _ = [Node()]
            if gone() is None:
                break
        assert gone() is None, "collected while the run goes on, without being asked for"
