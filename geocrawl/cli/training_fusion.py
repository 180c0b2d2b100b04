"""`geocrawl train fusion`: the weights that fusion starts from, from recorded webs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt


def fusion(
    worlds: Annotated[list[Path], typer.Argument(metavar="WORLD...", help="Folders of recorded webs.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The model to write.")],
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=20, help="Crawls of each web, each with what was learnt so far.")
    ] = 3,
    json: opt.Json = False,
) -> None:
    """Learn the weights that fusion starts from: links of recorded webs, by what they were worth in crawls.

    Only evidence that means the same on every web gets weights: no word, host or path. Try them with
    `--strategy fusion --set fusion.prior=FILE`; `geocrawl evaluate` refuses them on the webs they were learnt from.

    Example: geocrawl train fusion worlds/portal-1 worlds/mixed-2 worlds/agency-3 --out fusion.json
    """
    from geocrawl.lab.training.fusion_weights import train_fusion_file

    summary = train_fusion_file(worlds, out, rounds=rounds, tell=lambda line: None if json else typer.echo(line))
    if json:
        opt.echo_json(dict(summary))
        return
    for key in ("how", "date", "options", "links"):
        typer.echo(f"{key}: {summary[key]}")
