"""Tune Python's cyclic garbage collector for a long run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (10_000, 20, 20)
"""Allocations before a collection of generation 0 (Python's default: 700), collections of generation 0 before one of
generation 1, and of generation 1 before a full one. A visit allocates thousands of containers, and reference counting
frees nearly all of them."""


def tune() -> None:
    """Let the collector run rarely, from the start of the program on.

    Importing the modules of a crawl allocates some hundred thousand containers that are never freed: at Python's
    default thresholds, collections took a tenth of the start-up time.
    """
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def long_run() -> Iterator[None]:
    """Let the collector run rarely during a run, and skip the objects that exist when the run begins.

    Modules, tables and models that are loaded at the start exist as long as the run, so scanning them at every full
    collection frees nothing. At the default thresholds collections took a quarter of a crawl's CPU time.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    tune()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
