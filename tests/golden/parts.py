"""The golden runs in parts, by the first part of their names: each makes texts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from tests.golden import exports, orders, pages, usages, views
from tests.golden.catalogue import ENGINES, Catalogue, crawled, environment, has_postgres
from tests.golden.ledger import is_under, ledger

Made = Iterator[tuple[str, str]]
"""Pairs of a run's name and its text."""
OF_A_CATALOGUE: Mapping[str, ModuleType] = {"views": views, "exports": exports, "web": pages, "usages": usages}
"""First part of a name → the module that makes its texts of a catalogue, in each engine."""
POSTGRES = "@postgres"
"""End of the name of a text that PostgreSQL makes and that is not SQLite's."""


def _orders(wanted: Sequence[str]) -> Made:
    yield from (
        (name, orders.order(name)) for name in (*orders.names(), *orders.more_names()) if is_under(name, wanted)
    )


def _recorded(wanted: Sequence[str]) -> Made:
    yield from ((name, orders.recorded_order(name)) for name in orders.recorded_names() if is_under(name, wanted))


def _help(wanted: Sequence[str]) -> Made:
    with environment():
        yield from (each for each in usages.help_texts() if is_under(each[0], wanted))


def _of_a_catalogue(wanted: Sequence[str]) -> Made:
    """Yield texts of SQLite, and of PostgreSQL, where it is installed, those that differ from them."""
    groups = [each for each in OF_A_CATALOGUE if any(name.partition("/")[0] == each for name in wanted)]
    of_sqlite: dict[str, str] = {}
    for engine in ENGINES if has_postgres() else ENGINES[:1]:
        with crawled(engine) as catalogue:
            found = dict(of_catalogue(catalogue, groups))
        of_sqlite = of_sqlite or found
        named = found if engine == "sqlite" else only_of_postgres(found, of_sqlite)
        yield from (each for each in named.items() if is_under(each[0], wanted))


def of_catalogue(catalogue: Catalogue, groups: Iterable[str]) -> Made:
    """Yield names and texts of a catalogue, the same names in both engines."""
    for group in groups:
        yield from OF_A_CATALOGUE[group].texts(catalogue)


def only_of_postgres(found: Mapping[str, str], of_sqlite: Mapping[str, str]) -> dict[str, str]:
    """Return, by names of their own, the texts of PostgreSQL that are not SQLite's."""
    return {f"{name}{POSTGRES}": text for name, text in found.items() if of_sqlite.get(name) != text}


PARTS: Mapping[str, Callable[[Sequence[str]], Made]] = {
    "orders": _orders,
    "help": _help,
    **dict.fromkeys(OF_A_CATALOGUE, _of_a_catalogue),
    "recorded": _recorded,
}
"""First part of a name → what makes the texts below it, of those names that are wanted."""
UNASKED = ("recorded",)
"""Parts that take many minutes and need the recorded worlds; they run when they are named only."""


def made(wanted: Sequence[str]) -> Made:
    """Yield names and texts of the wanted runs; without names, of all but `UNASKED`.

    Raises ValueError for a name of no part.
    """
    names = [name.rstrip("/") for name in wanted] or [part for part in PARTS if part not in UNASKED]
    if unknown := [name for name in names if name.partition("/")[0] not in PARTS]:
        raise ValueError(f"unknown: {', '.join(unknown)}; the first part of a name is one of {', '.join(PARTS)}")
    for make in dict.fromkeys(PARTS[name.partition("/")[0]] for name in names):
        yield from make([name for name in names if PARTS[name.partition("/")[0]] is make])


def cannot_be_made() -> set[str]:
    """Return the names of expected texts that nothing makes here, for lack of PostgreSQL or pyarrow."""
    names = {line.name for line in ledger()}
    without = {name for name in names if name.endswith(POSTGRES) and not has_postgres()}
    return without | {name for name in names if name.startswith(exports.GEOPARQUET) and not exports.has_pyarrow()}
