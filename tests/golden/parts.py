"""The golden runs in parts, by the first part of their names: every part makes texts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from tests.golden import exports, orders, pages, usages, views
from tests.golden.catalogue import Catalogue, crawled, environment
from tests.golden.ledger import is_under

Made = Iterator[tuple[str, str]]
"""Pairs of a run's name and its text."""
OF_A_CATALOGUE: Mapping[str, ModuleType] = {"views": views, "exports": exports, "web": pages, "usages": usages}
"""First part of a name → the module that makes its texts of a catalogue, the same in both engines."""


def _orders(wanted: Sequence[str], whole: bool) -> Made:
    names = (*orders.names(), *orders.more_names())
    yield from ((name, orders.text(name, whole)) for name in names if is_under(name, wanted))


def _recorded(wanted: Sequence[str], whole: bool) -> Made:
    yield from ((name, orders.text(name, whole)) for name in orders.recorded_names() if is_under(name, wanted))


def _help(wanted: Sequence[str], whole: bool) -> Made:
    with environment():
        yield from (text for text in usages.help_texts() if is_under(text[0], wanted))


def _of_a_catalogue(wanted: Sequence[str], whole: bool) -> Made:
    """Yield texts of SQLite; the tests demand the same of PostgreSQL."""
    groups = [group for group in OF_A_CATALOGUE if any(name.partition("/")[0] == group for name in wanted)]
    with crawled("sqlite", whole=whole) as catalogue:
        yield from (text for text in of_catalogue(catalogue, groups) if is_under(text[0], wanted))


def of_catalogue(catalogue: Catalogue, groups: Iterable[str]) -> Made:
    """Yield names and texts of a catalogue, the same names in both engines."""
    for group in groups:
        yield from OF_A_CATALOGUE[group].texts(catalogue)


PARTS: Mapping[str, Callable[[Sequence[str], bool], Made]] = {
    "orders": _orders,
    "help": _help,
    **dict.fromkeys(OF_A_CATALOGUE, _of_a_catalogue),
    "recorded": _recorded,
}
"""First part of a name → what makes the texts below it, of those names that are wanted."""
UNASKED = ("recorded",)
"""Parts that take many minutes and need the recorded worlds; they run when they are named only."""


def made(wanted: Sequence[str], whole: bool = False) -> Made:
    """Yield names and texts of the wanted runs; without names, of all but `UNASKED`.

    Texts that are `whole` have every address of an order and every item of a list.
    Raises ValueError for a name of no part.
    """
    names = [name.rstrip("/") for name in wanted] or [part for part in PARTS if part not in UNASKED]
    if unknown := [name for name in names if name.partition("/")[0] not in PARTS]:
        raise ValueError(f"unknown: {', '.join(unknown)}; the first part of a name is one of {', '.join(PARTS)}")
    for make in dict.fromkeys(PARTS[name.partition("/")[0]] for name in names):
        yield from make([name for name in names if PARTS[name.partition("/")[0]] is make], whole)


def cannot_be_made() -> set[str]:
    """Return the names of expected texts that nothing makes here, for lack of pyarrow."""
    return {exports.GEOPARQUET} if not exports.has_pyarrow() else set()
