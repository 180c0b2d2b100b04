"""`geocrawl train topic`, `links`, `vectors`, …: how the shipped models were made, for anyone to repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli.training_bayes import bayes
from geocrawl.cli.training_fusion import fusion


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(no_args_is_help=True, help="Train the models of the strategies.")
    group.command("topic")(topic)
    group.command("links")(links)
    group.command("bayes")(bayes)
    group.command("fusion")(fusion)
    group.command("vectors")(vectors)
    app.add_typer(group, name="train")


def topic(
    pages: opt.LabelledPages,
    out: opt.ModelOut,
    exclude: opt.Exclude = None,
    json: opt.Json = False,
) -> None:
    """Learn the topic vectors (TF-IDF) from labelled pages.

    Example: geocrawl train topic pages.jsonl.gz --exclude worlds/portal --out topic.json
    """
    from geocrawl.lab.training.train import train_topic

    opt.report(train_topic(pages, out, exclude or []), json=json)


def links(
    urls: Annotated[Path, typer.Argument(help="Labelled addresses: CSV of url, label, anchor, language.")],
    out: opt.ModelOut,
    json: opt.Json = False,
) -> None:
    """Learn the link keywords: the most frequent words of addresses and anchors that lead to WMS.

    Example: geocrawl train links urls.csv --out links.json
    """
    from geocrawl.lab.training.train import train_links

    opt.report(train_links(urls, out), json=json)


def vectors(
    pages: opt.LabelledPages,
    out: opt.ModelOut,
    exclude: opt.Exclude = None,
    json: opt.Json = False,
) -> None:
    """Learn the text vectors (TF-IDF over all words) that best-first and other strategies compare pages with.

    Example: geocrawl train vectors pages.jsonl.gz --exclude worlds/portal --out vectors.json
    """
    from geocrawl.lab.training.train import train_vectors

    opt.report(train_vectors(pages, out, exclude or []), json=json)
