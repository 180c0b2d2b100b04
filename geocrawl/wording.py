"""Word counts in messages to people."""

from __future__ import annotations

RUN_ENDS = {
    "done": "the queue was empty",
    "max-pages": "the limit of pages was reached",
    "max-time": "the time was up",
    "signal": "it was stopped",
    "resting": "only failed addresses were left, to be tried again later",
    "patience": "hosts were in back-off for longer than the setting patience",
    "outage": "no request could be sent for longer than the setting patience",
}
"""Code of a run's end (`run.stopped`) → why it ended, for people."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 page`, `2,000 pages`, `0 addresses`."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
