"""Tune Python's cyclic garbage collector for a long run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (10_000, 20, 20)
"""New containers before a young collection (default 700), young ones before a middle one, middle ones before a full
one. A visit makes thousands of containers and nearly all of them die by reference counting."""


def tune() -> None:
    """Let the collector run rarely, from the start of the program on.

    Importing the modules of a crawl makes some hundred thousand containers that stay: collections at Python's own
    thresholds took a tenth of its start.
    """
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def long_run() -> Iterator[None]:
    """Let the collector run rarely, and pass over what the start of the program made, for the time of a run.

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
