"""Implement `geocrawl evaluate`: compare strategies side by side on recorded webs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.lab.contest.contest import ContestResults, Plan


Strategies = Annotated[
    str,
    typer.Option(
        "--strategies",
        metavar="A,B,C|all",
        help="Which to compare; presets = all presets, oracle = best order, as-used = as a crawl runs by default.",
    ),
]
Seeds = Annotated[
    Path | None,
    typer.Option("--seeds", metavar="FILE", help="Other start pages, one a line; unrecorded ones are left out."),
]
Topic = Annotated[
    str, typer.Option("--topic", metavar="NAME", help="Topic that strategies look for \\[WMS]; finds are WMS still.")
]

Workers = Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Workers of each crawl, in virtual time.")]
Delay = Annotated[
    float,
    typer.Option(
        "--delay",
        metavar="SECONDS",
        min=0.0,
        help="Between requests to a host, in virtual time \\[0: no host rests]; with it Crawl-delays count.",
    ),
]

Economy = Annotated[
    float | None,
    typer.Option("--economy", metavar="SHARE", min=0.0, max=1.0, help="As of crawl; matters with workers or a delay."),
]


def evaluate(
    worlds: Annotated[
        list[Path], typer.Argument(metavar="WORLD...", help="Recorded webs: folders, or WARC files of crawl --record.")
    ],
    strategies: Strategies = "all",
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="N", min=1, help="Pages downloaded \\[as many as the world has].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write results.csv, results.json, plots, report.html.")
    ] = None,
    seeds: Seeds = None,
    topic: Topic = "",
    workers: Workers = 1,
    delay: Delay = 0.0,
    economy: Economy = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 0,
    processes: Annotated[int, typer.Option("--processes", metavar="N", min=1, help="Crawls at once.")] = 2,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of a strategy: gws.lambda=0.7.")
    ] = None,
    json: opt.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
) -> None:
    """Crawl recorded webs with each strategy, in memory and in virtual time, and compare what they find and when.

    Examples:

        geocrawl evaluate worlds/portal worlds/agency --strategies gws,bfs,random --out contest

        geocrawl evaluate worlds/agency --strategies gws:paper,gws,bfs

        geocrawl evaluate worlds/mixed --strategies fusion,bfs,as-used --workers 5 --delay 1
    """
    from geocrawl.app.topics import find_topic
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.lab.contest.contest import Plan, run_contest

    plan = Plan(
        worlds,
        _named(strategies),
        budget=budget,
        seed=seed,
        processes=processes,
        set=opt.key_value_pairs(set_) if set_ else {},
        seeds=[url.address for url in gather_seeds([], seeds)] if seeds else (),
        topic=find_topic(topic).name if topic else "",
        workers=workers,
        delay_s=delay,
        economy=economy,
    )
    if out is not None:
        from geocrawl.files import demand_folder

        demand_folder(out, ("results.csv", "results.json", "report.html"))
    tell = (lambda line: None) if quiet else (lambda line: typer.echo(line, err=True))
    _show(plan, run_contest(plan, tell), out, json=json)


def _named(text: str) -> list[str]:
    """Return the strategies to compare, each once.

    `all` means every strategy, the default one as used, and the oracle; `presets` every preset.
    """
    from geocrawl.priority.registry import presets, strategies

    names = [name.strip() for name in text.split(",") if name.strip()]
    if "all" in names:
        names = [*names, *strategies(), "as-used", "oracle"]
    if "presets" in names:
        names = [*names, *presets()]
    return [name for name in dict.fromkeys(names) if name not in ("all", "presets")]


def _show(plan: Plan, results: ContestResults, out: Path | None, *, json: bool) -> None:
    """Write the results to the folder `out`, if one is given, and print them."""
    if out is not None:
        from geocrawl.lab.contest.report import write_all

        for line in write_all(plan, results, out):
            typer.echo(line, err=True)
    if json:
        from geocrawl.lab.contest.results import to_json

        typer.echo(to_json(plan, results), nl=False)
    else:
        _print(results)


def _print(results: ContestResults) -> None:
    from rich.console import Console

    from geocrawl.lab.contest.table import WIDE, end_lines, model_lines, tables, unrecorded_lines

    console = Console()
    if not console.is_terminal:
        console.width = WIDE + 30  # presets have long names
    for table in tables(results, console.width):
        console.print(table)
    for line in (*end_lines(results), *unrecorded_lines(results), *model_lines(results)):
        console.print(line, highlight=False, markup=False)
    for line in results.skipped:
        console.print(f"skipped: {line}", highlight=False, markup=False)
