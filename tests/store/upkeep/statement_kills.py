"""Kill upgrade, migrate, restore and merge before each of their statements: what opens, what is refused, what is lost.

A command runs in a process of its own, which ends without a word before its n-th statement or change of a file, for
every n until it ends by itself. Then every database is looked into, and the command is repeated as its message advises.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from geocrawl.app import maintenance
from geocrawl.errors import DatabaseFault
from geocrawl.model import Kind, Service
from geocrawl.model.details import Address
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.database.opt_out import read_blocked
from geocrawl.store.database.schema.models import METADATA
from geocrawl.store.upkeep.backup import back_up
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.migrate import TableSum, migrate, table_sum
from geocrawl.urls.database import place_of
from tests.store.database.test_upgrade import old_file, old_on_server
from tests.support.postgres import Server
from tests.support.world import ManualClock, World, candidate, link, verdict

KILLED = 137
NAMES = (
    *("upgrade sqlite", "upgrade postgres", "restore sqlite"),
    *("merge sqlite", "split sqlite", "merge postgres", "split postgres"),
    *("migrate sqlite sqlite", "migrate sqlite postgres", "migrate postgres sqlite", "migrate postgres postgres"),
)
_FILE_CHANGES = ("link", "rename", "replace", "unlink", "chmod")

State = str
"""`as before`, `as after`, `empty`, or `refused: ` with the message, the place in it as PLACE."""
Sums = dict[str, TableSum]


@dataclass
class Trial:
    """A command that is killed: how its databases are made, what it does, which of them are looked into."""

    make: Callable[[], tuple[str, ...]]
    """Make databases again and return their URLs; the last one is the one that the command writes."""
    run: Callable[[tuple[str, ...]], object]
    drop: Callable[[str], object] = lambda url: None
    look: Callable[[tuple[str, ...], State, list[Sums | None]], list[str]] = lambda places, state, before: []
    """Return what is missing besides, given the databases, the state of the last one, and what all held before."""
    remove_refused: bool = False
    """Whether the copy is removed, as the refusal advises, before the command is repeated."""


@dataclass
class Outcome:
    """What was seen in the databases of a command that was killed at each of its statements."""

    statements: int = 0
    states: Counter[State] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    """Where something was missing, or could not be done again: a sentence each."""


def killed_everywhere(trial: Trial, *, step: int = 1) -> Outcome:
    """Kill a command before every `step`-th of its statements; return what was seen."""
    outcome = Outcome()
    places = trial.make()
    before = [sums(url) for url in places]
    assert _run(trial, places, 0) == 0
    after = [sums(url) for url in places]
    _dropped(trial, places)
    number = 1
    while True:
        places = trial.make()
        is_over = _run(trial, places, number) != KILLED
        state = _state(places, before[-1], after[-1])
        if not is_over:
            outcome.statements += 1
            outcome.states[state] += 1
        _look(trial, places, before, after, state, f"before statement {number}", outcome.lost)
        _dropped(trial, places)
        if is_over:
            return outcome
        number += step


def _look(
    trial: Trial, places: tuple[str, ...], before: list[Any], after: list[Any], state: State, when: str, lost: list[str]
) -> None:
    lost += [
        f"{when}: {url} is not what it was" for url, sum_ in zip(places[:-1], before, strict=False) if sums(url) != sum_
    ]
    lost += [f"{when}: {what}" for what in trial.look(places, state, before)]
    if state == "otherwise":
        lost.append(f"{when}: the database holds neither what it held nor what it is to hold")
        return
    if state.startswith("refused") and trial.remove_refused:
        trial.drop(places[-1])
    if state != "as after" and _run(trial, places, 0) != 0:
        lost.append(f"{when} ({state}): the command cannot be repeated")
    elif _state(places, before[-1], after[-1]) != "as after":
        lost.append(f"{when} ({state}): the command that was repeated had another result")


def sums(url: str) -> Sums | None:
    """Return the sum of each table, None where there is no catalogue. Raises DatabaseFault for one that is refused."""
    try:
        with Store.open_readonly(url) as connection:
            return {
                table.name: table_sum(connection, table)
                for table in METADATA.sorted_tables
                if table.name != "search_change"
            }
    except DatabaseFault as fault:
        if "no such" in str(fault) or "is empty" in str(fault):
            return None
        if "older geocrawl" in str(fault):
            return {"older": TableSum(0, "")}
        raise


def _state(places: tuple[str, ...], before: Sums | None, after: Sums | None) -> State:
    """Return what a database is after a command was killed."""
    try:
        found = sums(places[-1])
    except DatabaseFault as fault:
        said = str(fault).replace(str(place_of(places[-1])), "PLACE").replace(str(place_of(places[0])), "SOURCE")
        return f"refused: {said}"
    if found == after:
        return "as after"
    if found == before or (before is None and found is not None and not any(each.rows for each in found.values())):
        return "as before"
    if found is None or not any(found[name].rows for name in ("url", "host", "service") if name in found):
        return "empty"
    return "otherwise"


def _dropped(trial: Trial, places: tuple[str, ...]) -> None:
    for url in places:
        trial.drop(url)


# --------------------------------------------------------------------------- killing


def _run(trial: Trial, places: tuple[str, ...], number: int) -> int:
    """Run a command in a process of its own, killed before its statement `number` (0: never); return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            vars(maintenance)["SystemClock"] = ManualClock  # what is written at two runs is to be equal
            if number:
                _kill_before(number)
            trial.run(places)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill_before(number: int) -> None:
    """Let this process end before its n-th statement on a database, or its n-th change of a file."""
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1
        if counted == number:
            os._exit(KILLED)

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def counted_first(*arguments: Any, **named: Any) -> Any:
            count()
            return function(*arguments, **named)

        return counted_first

    for name in _FILE_CHANGES:
        setattr(os, name, counting(getattr(os, name)))
    for kind, names in ((psycopg.Cursor, ("execute", "executemany", "copy")), (psycopg.Connection, ("commit",))):
        for name in names:
            setattr(kind, name, counting(getattr(kind, name)))
    connect: Any = sqlite3.connect

    def traced(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **named)
        last = ""

        def begin(statement: str) -> None:
            nonlocal last
            if not statement.startswith("--") and statement[:60] != last:  # a trigger's; rows of one statement
                count()
            last = statement[:60]

        connection.set_trace_callback(begin)
        return connection

    vars(sqlite3)["connect"] = traced


# --------------------------------------------------------------------------- the commands


def trials(folder: Path, server: Server) -> dict[str, Trial]:
    """Return the commands that are killed, on each engine, by name."""
    names = (f"{number}" for number in range(1_000_000))
    model, model_on_server = folder / "model.db", server.new_database()
    for url in (str(model), model_on_server):
        _fill(url)
    dump = server.dump(model_on_server, "model")

    def file() -> str:
        place = folder / next(names)
        shutil.copyfile(model, place)
        return str(place)

    def on_server() -> str:
        return server.restored(dump)

    def drop(url: str) -> None:
        if url.startswith("postgresql"):
            server.drop(url)
            return
        for each in (*Path(url).parent.glob(f"{Path(url).name}*"), *Path(url).parent.glob(f".{Path(url).name}.*")):
            each.unlink()

    def emptied(url: str) -> None:
        drop(url)
        if url.startswith("postgresql"):
            server.command(f"CREATE DATABASE {url.partition('@/')[2].partition('?')[0]} TEMPLATE template0")

    def restorable() -> tuple[str, ...]:
        """A backup, and the catalogue from which a host opted out since."""
        now, former = file(), folder / next(names)
        back_up(now, former)
        world = World(now)
        world.seed("later.example/")
        forget(world.database, "h3.example", "asked", 2_000_000.0)
        world.store.close()
        return str(former), now

    def copying(*places: str) -> dict[str, TableSum]:
        return dict(migrate(places[0], places[1], ManualClock(), lambda table, rows: None))

    makers = {"sqlite": file, "postgres": on_server}
    empty = {"sqlite": lambda: str(folder / next(names)), "postgres": server.new_database}
    found = {
        "upgrade sqlite": Trial(lambda: (old_file(folder, next(names)),), _upgrade, drop),
        "upgrade postgres": Trial(lambda: (old_on_server(server),), _upgrade, drop),
        "restore sqlite": Trial(
            restorable,
            lambda places: maintenance.restore(Settings(), Path(places[0]), place_of(places[1])),
            drop,
            _former_is_kept,
        ),
    }
    for engine, make in makers.items():
        found[f"merge {engine}"] = Trial(lambda make=make: (make(),), _merge, drop)  # type: ignore[misc]
        found[f"split {engine}"] = Trial(lambda make=make: (_merged(make()),), _split, drop)  # type: ignore[misc]
    for source, target in (
        ("sqlite", "sqlite"),
        ("sqlite", "postgres"),
        ("postgres", "sqlite"),
        ("postgres", "postgres"),
    ):
        found[f"migrate {source} {target}"] = Trial(
            lambda source=source, target=target: (makers[source](), empty[target]()),  # type: ignore[misc]
            lambda places: copying(*places),
            drop if target == "sqlite" else emptied,
            remove_refused=True,
        )
    return found


def _fill(url: str) -> None:
    """Make a catalogue with rows in most tables, and services that may be one."""
    world = World(url, learns=True)
    run = world.store.start_run("gws", world.settings)
    world.seed("a.example/", "b.example/")
    probes = [(candidate(f"{host}.example/wms?service=WMS"), None) for host in ("maps", "geo", "ogc")]
    world.settle(world.lease(), *[link(f"h{n}.example/{n}") for n in range(8)], candidates=probes)
    for title in ("Rivers", "Rivers of the north", "Lakes"):
        world.settle(world.lease(pages=False), verdict=verdict(service=Service(Kind.WMS, "1.3.0", title)))
    world.store.end_run(run, pages=1, services=3, stopped="ended")
    world.store.close()


def _former_is_kept(places: tuple[str, ...], state: State, before: list[Sums | None]) -> list[str]:
    """Return that the database which was replaced is missing, and what the new one does not promise."""
    if state != "as after":
        return []
    kept = Path(f"{places[1]}.before-restore")
    with Store.open_readonly(places[1]) as connection:
        promised = [each.host for each in read_blocked(connection)] == ["h3.example"]
    is_kept = kept.exists() and sums(str(kept)) == before[1]
    return [*([] if is_kept else ["the former database is not kept"]), *([] if promised else ["an opt-out is lost"])]


def _upgrade(places: tuple[str, ...]) -> None:
    Store.open(places[0], clock=ManualClock()).close()


def _merge(places: tuple[str, ...]) -> None:
    """Declare that services 1 and 2, and 1 and 3, are one."""
    _decide(places[0], same=True)


def _merged(url: str) -> str:
    with Store.open(url, clock=ManualClock()) as store:
        store.catalog().decide((1, 2), (1, 3), same=True, at=1.0)
    return url


def _split(places: tuple[str, ...]) -> None:
    """Separate the first address of the service that `_merged` made from the two others, as `geocrawl split 1` does."""
    _decide(places[0], same=False)


def _decide(url: str, *, same: bool) -> None:
    def pairs(catalogue: Catalogue) -> list[tuple[Address, Address]]:
        numbers = (1, 2, 3) if same else (1,)
        by_id = {each.endpoint_id: each for number in numbers for each in catalogue.addresses(number)}
        return [(by_id[1], by_id[2]), (by_id[1], by_id[3])]

    maintenance.decide_same(place_of(url), pairs, same=same)
