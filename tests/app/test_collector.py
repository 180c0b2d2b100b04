"""The garbage collector and the memory of a long run."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref

import pytest

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


_AFTER_A_LARGER_BLOCK = """
import ctypes
from geocrawl.resources import long_run

class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "free", "fast", "maps", "own_bytes", *"abcde")]

mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Mallinfo2
with long_run():
    larger = bytearray(16 << 20)
    del larger
    before = mallinfo().own_bytes
    large = bytearray(1 << 20)
    print(mallinfo().own_bytes - before >= len(large))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="another C library than glibc")
def test_a_large_block_is_one_of_its_own_after_a_larger_one_was_freed() -> None:
    """So it goes back to the system as a whole. In a new process: a heap may have room for it."""
    said = subprocess.run([sys.executable, "-c", _AFTER_A_LARGER_BLOCK], capture_output=True, text=True, check=True)
    assert said.stdout == "True\n"
