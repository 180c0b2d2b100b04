"""`geocrawl train bayes`: the link classifier, from labelled pages, labelled addresses or a crawl's own finds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt


def bayes(
    out: opt.ModelOut,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="FILE", help="Labelled pages: JSON lines of url, label, html."),
    ] = None,
    urls: Annotated[
        Path | None, typer.Option("--urls", metavar="FILE", help="Labelled addresses: CSV of url, label, anchor, note.")
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="A finished crawl, to learn from what it found.")
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="NAME", help="What links are to lead to (see geocrawl topics) [WMS]."),
    ] = None,
    exclude: opt.Exclude = None,
    json: opt.Json = False,
) -> None:
    """Learn which links lead to the topic: from anchors and the words around them (naive Bayes).

    Labels come by themselves: links of PAGES into authoritative domains of the topic or of other topics, addresses by
    their label, and in a crawl's database the links that led to a valid service within two hops. Sources add up.

    With --topic the sample texts of the topic and of all others are learnt from too, and a link counts for the topic
    that has its target's site among its start pages. Use the model with `crawl --topic NAME --strategy bayes --set
    bayes.model=FILE`; without one, a topic's bayes knows the sample texts only.

    Examples:

        geocrawl train bayes --db crawl.db --out bayes.json

        geocrawl train bayes --topic environment/soil --db soil.db --out soil.json

        geocrawl train bayes --pages pages.jsonl.gz --urls urls.csv --exclude worlds/portal --out bayes.json
    """
    from geocrawl.errors import UsageError
    from geocrawl.lab.training.train import train_bayes

    if not (pages or urls or db or topic):
        raise UsageError("nothing to learn from: name --pages, --urls, --db or --topic")
    database = opt.database_path_from(opt.settings_from(db=db)) if db else None
    summary = train_bayes(out, pages=pages, urls=urls, database=database, exclude=exclude or [], topic=topic or "")
    opt.report(summary, json=json)
