"""Show a contest on the terminal: a table for each world, and what the models were trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from geocrawl.lab.contest.contest import ContestResults, Row, WorldResults
from geocrawl.lab.contest.models import Model
from geocrawl.sanitize import plain
from geocrawl.wording import span

HEADS = (
    "strategy",
    "pages",
    "found",
    "recall",
    "precision",
    "to 50 %",
    "to 90 %",
    "to 100 %",
    "area",
    "harvest",
    "discovery",
    "judged h.",
    "judged d.",
    "false",
    "wall",
    "CPU s",
    "MiB",
)
_FIRST = frozenset({"strategy", "pages", "found", "recall", "precision", "to 50 %", "to 90 %", "area", "CPU s"})
"""The columns that even a narrow terminal shows."""
WIDE = 150


def tables(results: ContestResults, width: int) -> Iterator[Table]:
    """Yield a table for each world, the best area first; fewer columns where fewer characters fit."""
    for world in results.worlds:
        yield _table(world, [i for i, head in enumerate(HEADS) if width >= WIDE or head in _FIRST])


def _table(world: WorldResults, shown: Sequence[int]) -> Table:
    rows = sorted((strategy.row for strategy in world.strategies), key=lambda row: -row.area)
    budget = rows[0].budget if rows else 0
    reachable = rows[0].reachable if rows else 0
    table = Table(
        box=box.SIMPLE_HEAD, title=f"{plain(world.study.world, 60)}: {reachable:,} services, budget {budget:,} pages"
    )
    for i in shown:
        table.add_column(HEADS[i], justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        texts = cells(row)
        table.add_row(*(texts[i] for i in shown))
    return table


def cells(row: Row) -> list[str]:
    """Return a row as people read it, in the order of `HEADS`."""
    spread = f" ±{row.area_sd:.3f}" if row.area_sd is not None else ""
    return [
        row.strategy,
        f"{row.pages:,.0f}",
        f"{row.found:,.0f}",
        f"{row.recall:.1%}",
        f"{row.precision:.4f}",
        *(_whole(value) for value in (row.pages_50, row.pages_90, row.pages_100)),
        f"{row.area:.3f}{spread}",
        *(
            _share(value)
            for value in (row.harvest_rate, row.discovery_rate, row.judged_harvest_rate, row.judged_discovery_rate)
        ),
        f"{row.false_accepts:g}",
        "-" if row.wall_s is None else span(row.wall_s),
        "-" if row.cpu_s is None else f"{row.cpu_s:,.1f}",
        _whole(row.peak_mib),
    ]


_ENDS = {
    "done": "the queue was empty",
    "max-pages": "the budget of pages was used up",
    "resting": "only failed addresses were left, to be tried again later",
}


def end_lines(results: ContestResults) -> Iterator[str]:
    """Yield, for each world and reason, which crawls ended and why."""
    for world in results.worlds:
        names: dict[str, list[str]] = {}
        for strategy in world.strategies:
            if strategy.results:
                names.setdefault(strategy.row.stopped, []).append(strategy.row.strategy)
        for stopped, ended in names.items():
            yield f"{world.study.world}: {', '.join(ended)} ended because {_ENDS.get(stopped, stopped)}"


def unrecorded_lines(results: ContestResults) -> Iterator[str]:
    """Yield, for each strategy, how many addresses it asked for that a user's recording lacks."""
    for row in results.rows():
        if row.unrecorded is not None:
            yield f"{row.world}: {row.strategy} requested {row.unrecorded:,.0f} addresses that were not recorded"


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def model_lines(results: ContestResults) -> Iterator[str]:
    """Yield what the models of the strategies were trained on, each once."""
    seen = set()
    for world in results.worlds:
        for strategy in world.strategies:
            for model in strategy.results[0].models if strategy.results else ():
                if (strategy.row.strategy, model.name) not in seen:
                    seen.add((strategy.row.strategy, model.name))
                    yield f"{strategy.row.strategy}: {model.name} learnt from {_sources(model)}"


def _sources(model: Model) -> str:
    """Return the names of the files that a model was trained on, at most four."""
    names = [name for name, _ in model.learnt_from()]
    more = f" and {len(names) - 4} more (results.json has all)" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more if names else "no files named"
