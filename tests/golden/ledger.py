"""The expected texts of golden runs, and their ledger: the hash of each, the day and the reason of its last change."""

from __future__ import annotations

import datetime
import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "expected"
SHOWN_LINES = 200
"""Lines of a difference that a failed test prints; the command prints all."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the ledger."""

    name: str
    sha256: str
    day: str
    reason: str


def path_of(name: str) -> Path:
    """Return the file of the expected text of a run."""
    return FOLDER / f"{name}.txt"


def expected(name: str) -> str | None:
    """Return the expected text of a run; None for one that nobody has accepted."""
    path = path_of(name)
    return path.read_text("utf-8") if path.is_file() else None


def difference(name: str, text: str | None) -> list[str]:
    """Return the lines of a unified difference from the expected text, none without one; None: nothing is made."""
    old = expected(name)
    return [] if old == text else compared(old or "", text or "", f"{name}: expected", f"{name}: now")


def compared(old: str, new: str, old_label: str, new_label: str) -> list[str]:
    """Return the lines of a unified difference of two texts."""
    return list(difflib.unified_diff(old.split("\n"), new.split("\n"), old_label, new_label, lineterm="", n=2))


def demand(name: str, text: str) -> None:
    """Fail with the difference when a text is not the expected one."""
    demand_all({name: text})


def demand_all(texts: Mapping[str, str]) -> None:
    """Fail with the differences of all texts that are not the expected ones."""
    differing = {name: lines for name, text in texts.items() if (lines := difference(name, text))}
    shown = [line for lines in differing.values() for line in lines]
    left_out = [f"… {len(shown) - SHOWN_LINES} more lines"] if len(shown) > SHOWN_LINES else []
    names = " ".join(differing)
    advice = [
        f"\npython -m tests.golden diff {names}",
        f"python -m tests.golden diff {names} --against HEAD  # with all addresses, and all items of lists",
        f'python -m tests.golden accept {names} --reason "…"',
    ]
    if differing:
        raise AssertionError("\n".join([*shown[:SHOWN_LINES], *left_out, *advice]))


def accept(texts: Mapping[str, str | None], reason: str) -> list[str]:
    """Make these texts the expected ones; return the names of those that change. A run with None is no longer made.

    Raises ValueError without a reason in one line.
    """
    if not reason.strip() or not reason.isprintable():
        raise ValueError("a reason in one line is needed: why is the new text right?")
    changed = [name for name, text in texts.items() if expected(name) != text]
    lines = {line.name: line for line in ledger()}
    for name in changed:
        text = texts[name]
        if text is None:
            path_of(name).unlink()
            lines.pop(name, None)
            continue
        path_of(name).parent.mkdir(parents=True, exist_ok=True)
        path_of(name).write_text(text, "utf-8")
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        lines[name] = Line(name, hash_of(text), today, reason.strip())
    rows = ("\t".join((each.name, each.sha256, each.day, each.reason)) for each in lines.values())
    _ledger().write_text("".join(f"{row}\n" for row in sorted(rows)), "utf-8")
    return changed


def ledger() -> list[Line]:
    """Return the lines of the ledger, by name."""
    if not _ledger().is_file():
        return []
    return [Line(*line.split("\t", 3)) for line in _ledger().read_text("utf-8").splitlines()]


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def names_under(prefixes: Sequence[str]) -> Iterator[str]:
    """Yield the names of expected texts under prefixes such as `orders/demo`."""
    yield from (line.name for line in ledger() if is_under(line.name, prefixes))


def is_under(name: str, prefixes: Sequence[str]) -> bool:
    """Whether a name is one of `prefixes` or stands below one; without any every name does."""
    return not prefixes or any(name == prefix or name.startswith(f"{prefix}/") for prefix in prefixes)


def _ledger() -> Path:
    return FOLDER / "ledger.tsv"
