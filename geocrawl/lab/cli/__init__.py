"""The laboratory's commands: `geocrawl evaluate`, `world` and `train`, one file each.

`geocrawl.cli` adds them when the laboratory is installed, and works without it.
"""

from __future__ import annotations

import typer

from geocrawl.lab.cli import evaluate, train, world


def add_to(app: typer.Typer) -> None:
    """Register the laboratory's commands."""
    train.add_to(app)
    evaluate.add_to(app)
    world.add_to(app)
