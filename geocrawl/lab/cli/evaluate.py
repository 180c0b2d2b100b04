"""Implement `geocrawl evaluate`: compare strategies side by side on recorded webs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.lab.contest.claims import Evidence
    from geocrawl.lab.contest.contest import ContestResults, Plan


Worlds = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[WORLD...]", help="Recorded webs: folders, or WARC files of crawl --record."),
]
Strategies = Annotated[
    str,
    typer.Option(
        "--strategies",
        metavar="A,B,C|all",
        help="Which to compare; presets = all presets, oracle = best order, as-used = as a crawl runs by default.",
    ),
]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", min=1, help="Pages downloaded \\[as many as the world has].")
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write results.csv, results.json, plots, report.html …")
]
Seeds = Annotated[
    Path | None,
    typer.Option("--seeds", metavar="FILE", help="Other start pages, one a line; unrecorded ones are left out."),
]
Topic = Annotated[
    str,
    typer.Option("--topic", metavar="NAME", help="Topic the strategies are given \\[WMS]; only WMS count as finds."),
]
Papers = Annotated[
    bool,
    typer.Option("--papers", help="Run the papers' experiments, too, and print the verdict on each of their claims."),
]
Sample = Annotated[
    str,
    typer.Option("--sample", metavar="N|N%", help="Draw pages of each crawl for a person to judge (needs --out)."),
]
Judged = Annotated[
    Path | None,
    typer.Option("--judged", metavar="FILE", help="A sample.csv with judgements: print the precision by them."),
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
Setup = Annotated[
    str,
    typer.Option(
        "--setup",
        metavar="PRESET",
        help="Run every strategy as the preset's paper runs its crawlers: depth, workers, signs (gws:paper).",
    ),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An option of a strategy: gws.lambda=0.7.")
]


def evaluate(
    worlds: Worlds = None,
    strategies: Strategies = "all",
    budget: Budget = None,
    out: Out = None,
    papers: Papers = False,
    sample: Sample = "",
    judged: Judged = None,
    seeds: Seeds = None,
    topic: Topic = "",
    workers: Workers = 1,
    delay: Delay = 0.0,
    economy: Economy = None,
    setup: Setup = "",
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 0,
    processes: Annotated[int, typer.Option("--processes", metavar="N", min=1, help="Crawls at once.")] = 2,
    set_: Set = None,
    json: opt.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")] = False,
) -> None:
    """Crawl recorded webs with each strategy, in memory and in virtual time, and compare what they find and when.

    Examples:

        geocrawl evaluate worlds/portal worlds/agency --strategies gws:paper,gws,bfs --out contest --sample 5%

        geocrawl evaluate worlds/mixed --strategies fusion,bfs,as-used --workers 5 --delay 1

        geocrawl evaluate --judged contest/sample.csv
    """
    if judged is not None:
        return _show_judged(judged, json=json)
    from geocrawl.lab.contest.contest import Plan, under_setup

    plan = Plan(
        worlds or [],
        _named("papers" if papers and strategies == "all" else strategies),
        budget=budget,
        seed=seed,
        processes=processes,
        set=opt.key_value_pairs(set_) if set_ else {},
        seeds=_start_pages(seeds) if seeds else (),
        topic=_topic_name(topic) if topic else "",
        workers=workers,
        delay_s=delay,
        economy=economy,
    )
    plan = under_setup(plan, setup) if setup else plan
    _demand_out(out, sample)
    results, evidence = _run(plan, papers=papers, quiet=quiet)
    _write(plan, results, evidence, out, sample)
    _show(plan, results, evidence, json=json)


def _topic_name(text: str) -> str:
    """Return the full name of a topic. Raises as `find_topic`."""
    from geocrawl.priority.topics import find_topic, topics_folder

    return find_topic(text, topics_folder()).name


def _start_pages(path: Path) -> list[str]:
    """Return the addresses in a file of start pages. Raises as `gather_seeds`."""
    from geocrawl.cli.addresses import gather_seeds

    return [url.address for url in gather_seeds([], path)]


def _run(plan: Plan, *, papers: bool, quiet: bool) -> tuple[ContestResults, Evidence | None]:
    """Return the results of a contest and, with `papers`, those of the papers' experiments on its worlds.

    Unless `quiet`, the progress of the crawls is told on stderr.
    """
    from geocrawl.lab.contest.contest import run_contest
    from geocrawl.lab.contest.experiments import run_experiments

    tell: Callable[[str], None] = (lambda line: None) if quiet else (lambda line: typer.echo(line, err=True))
    results = run_contest(plan, tell)
    return results, run_experiments(plan, results, tell) if papers else None


def _demand_out(out: Path | None, sample: str) -> None:
    """Raise UsageError or EnvironmentFault before the crawls when their results could not be written."""
    from geocrawl.errors import UsageError
    from geocrawl.files import demand_folder
    from geocrawl.lab.contest.sample import DRAWN_FILE, SAMPLE_FILE, read_size, refuse_judged

    if sample:
        read_size(sample)
        if out is None:
            raise UsageError("--sample writes sample.csv: name a folder for it with --out DIR")
        refuse_judged(out)
    if out is not None:
        files = ("results.csv", "results.json", "rates.csv", "claims.csv", "report.html")
        demand_folder(out, (*files, *((SAMPLE_FILE, DRAWN_FILE) if sample else ())))


def _named(text: str) -> list[str]:
    """Return the strategies to compare, each once.

    `all` means every strategy, the default one as used, and the oracle; `presets` every preset; `papers` the presets of
    the papers' claims, `bfs` and the oracle.
    """
    from geocrawl.lab.contest.papers import strategies_of_papers
    from geocrawl.priority.registry import presets, strategies

    names = [name.strip() for name in text.split(",") if name.strip()]
    if "all" in names:
        names = [*names, *strategies(), "as-used", "oracle"]
    if "presets" in names:
        names = [*names, *presets()]
    if "papers" in names:
        names = [*names, *strategies_of_papers(), "oracle"]
    return [name for name in dict.fromkeys(names) if name not in ("all", "presets", "papers")]


def _write(plan: Plan, results: ContestResults, evidence: Evidence | None, out: Path | None, sample: str) -> None:
    """Write the results to the folder `out` if one is given, and a sample of the pages if one is wanted."""
    if out is None:
        return
    from geocrawl.lab.contest.report import write_all
    from geocrawl.lab.contest.sample import draw, read_size, write_sample

    for line in write_all(plan, results, out, evidence):
        typer.echo(line, err=True)
    if sample:
        for line in write_sample(draw(results, read_size(sample), plan.seed), plan.worlds, out, plan.seed):
            typer.echo(line, err=True)


def _show_judged(path: Path, *, json: bool) -> None:
    """Print the precision of each crawl by a person's judgements."""
    from dataclasses import asdict

    from geocrawl.cli.output import echo_json, print_table
    from geocrawl.lab.contest.sample import read_judged

    found = read_judged(path)
    if json:
        echo_json([asdict(each) for each in found])
        return
    rows = [
        (
            each.world,
            each.strategy,
            f"{each.visited:,}",
            f"{each.judged:,}",
            f"{each.relevant:,}",
            "-" if each.precision is None else f"{each.precision:.1%}",
            "-" if each.low is None or each.high is None else f"{each.low:.1%} to {each.high:.1%}",
            f"{each.not_judged:,}",
        )
        for each in found
    ]
    heads = ("world", "strategy", "visited", "judged", "relevant", "precision", "95 % confidence", "not judged")
    print_table(heads, rows)


def _show(plan: Plan, results: ContestResults, evidence: Evidence | None, *, json: bool) -> None:
    """Print the results, and the verdicts on the papers' claims if their experiments ran."""
    if json:
        from geocrawl.lab.contest.results import to_json

        typer.echo(to_json(plan, results), nl=False)
    else:
        _print(results)
        if evidence is not None:
            from geocrawl.lab.contest.claims import findings, findings_lines

            for line in findings_lines(findings(evidence)):
                typer.echo(line)


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
