"""Implement `geocrawl train …`: one command for each model of a strategy, trained as the shipped models were."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.errors import needs_extra

LabelledPages = Annotated[
    Path, typer.Argument(help="Labelled pages: JSON lines of url, lang, label, title, html (.gz).")
]
ModelOut = Annotated[Path, typer.Option("--out", metavar="FILE", help="The model to write.")]
Exclude = Annotated[
    list[Path] | None,
    typer.Option("--exclude", metavar="WORLD", help="A recorded web whose pages must not be learnt from."),
]


def topic(
    pages: LabelledPages,
    out: ModelOut,
    exclude: Exclude = None,
    json: opt.Json = False,
) -> None:
    """Learn the topic vectors (TF-IDF) from labelled pages.

    Example: geocrawl train topic pages.jsonl.gz --exclude worlds/portal --out topic.json
    """
    from geocrawl.lab.training.train import train_topic

    _print_summary(train_topic(pages, out, exclude or []), json=json)


def links(
    urls: Annotated[Path, typer.Argument(help="Labelled addresses: CSV of url, label, anchor, language.")],
    out: ModelOut,
    json: opt.Json = False,
) -> None:
    """Learn the link keywords: the most frequent words of addresses and anchors that lead to WMS.

    Example: geocrawl train links urls.csv --out links.json
    """
    from geocrawl.lab.training.train import train_links

    _print_summary(train_links(urls, out), json=json)


def vectors(
    pages: LabelledPages,
    out: ModelOut,
    exclude: Exclude = None,
    calibrate: Annotated[
        list[Path] | None,
        typer.Option("--calibrate", metavar="WORLD", help="A recorded web whose pages with services set thresholds."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Learn the text vectors (TF-IDF over all words) that best-first and other strategies compare pages with.

    Example: geocrawl train vectors pages.jsonl.gz --exclude worlds/portal --out vectors.json
    """
    from geocrawl.lab.training.train import train_vectors

    _print_summary(train_vectors(pages, out, exclude or [], calibrate or []), json=json)


def bayes(
    out: ModelOut,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="FILE", help="Labelled pages: JSON lines of url, label, html."),
    ] = None,
    urls: Annotated[
        Path | None, typer.Option("--urls", metavar="FILE", help="Labelled addresses: CSV of url, label, anchor, note.")
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="Database of a finished crawl to learn from.")
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="NAME", help="Topic to find links to (see geocrawl topics) [WMS]."),
    ] = None,
    exclude: Exclude = None,
    json: opt.Json = False,
) -> None:
    """Learn which links lead to the topic: from anchors and the words around them (naive Bayes).

    Three sources of labelled links can be combined: links of PAGES into authoritative domains of the topic or of other
    topics; labelled addresses; and, in a crawl's database, links that led to a valid service within two hops.

    With --topic, the sample texts of the topic and of all other topics are training data too, and a link belongs to the
    topic whose start pages include the target's site. Use the model with `crawl --topic NAME --strategy bayes --set
    bayes.model=FILE`; without a trained model, bayes learns a topic from its sample texts only.

    Examples:

        geocrawl train bayes --db crawl.db --out bayes.json

        geocrawl train bayes --topic environment/soil --db soil.db --out soil.json

        geocrawl train bayes --pages pages.jsonl.gz --urls urls.csv --exclude worlds/portal --out bayes.json
    """
    from geocrawl.errors import UsageError
    from geocrawl.lab.training.train import train_bayes

    if not (pages or urls or db or topic):
        raise UsageError("nothing to learn from: name --pages, --urls, --db or --topic")
    database = opt.database_path_from(opt.settings_from({"db": db})) if db else None
    summary = train_bayes(out, pages=pages, urls=urls, database=database, exclude=exclude or [], topic=topic or "")
    _print_summary(summary, json=json)


def fusion(
    worlds: Annotated[list[Path], typer.Argument(metavar="WORLD...", help="Folders of recorded webs.")],
    out: ModelOut,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=20, help="Crawls of each web, each with the weights learnt so far.")
    ] = 3,
    json: opt.Json = False,
) -> None:
    """Learn the weights that fusion starts from, by how much the links of recorded webs were worth in crawls.

    Only features that mean the same on every web get weights: no word, host or path. Try the weights with `--strategy
    fusion --set fusion.prior=FILE`; `geocrawl evaluate` refuses weights on the webs that they were learnt from.

    Example: geocrawl train fusion worlds/portal-1 worlds/mixed-2 worlds/agency-3 --out fusion.json
    """
    if find_spec("scipy") is None:
        raise needs_extra("train fusion", "SciPy")
    from geocrawl.lab.training.fusion_weights import train_fusion_file

    summary = train_fusion_file(worlds, out, rounds=rounds, tell=lambda line: None if json else typer.echo(line))
    if json:
        output.echo_json(dict(summary))
        return
    for key in ("how", "date", "options", "links"):
        typer.echo(f"{key}: {summary[key]}")


def _print_summary(summary: Mapping[str, object], *, json: bool) -> None:
    """Print names and values, as JSON or a line each."""
    if json:
        output.echo_json(summary)
        return
    for key, value in summary.items():
        typer.echo(f"{key}: {value}")
