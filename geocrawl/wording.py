"""Word counts, times and durations in messages to people. Times are kept as seconds since the epoch."""

from __future__ import annotations

import datetime as dt

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


def date_of(at: float) -> dt.date:
    """Return the UTC day of a time."""
    return dt.datetime.fromtimestamp(at, dt.UTC).date()


def day_of(at: float) -> str:
    """Return the UTC day of a time, YYYY-MM-DD."""
    return date_of(at).isoformat()


def moment(at: float | None) -> str:
    """Return a time as YYYY-MM-DD hh:mm:ss in UTC; '-' for None."""
    return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%d %H:%M:%S") if at is not None else "-"


def iso(at: float | None) -> str | None:
    """Return a time for programs, `2024-05-17T09:30:00Z`; None for None."""
    return dt.datetime.fromtimestamp(int(at), dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at is not None else None


def span(seconds: float) -> str:
    """Return a duration in its two largest units: 3d 4h, 5m 10s."""
    left, out = int(max(seconds, 0)), list[str]()
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        if left >= size or (unit == "s" and not out):
            out.append(f"{left // size}{unit}")
            left %= size
    return " ".join(out[:2])
