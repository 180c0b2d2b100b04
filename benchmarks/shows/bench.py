"""Speed beside Scrapy and Crawlee, where the time goes, the frontier at 1 M and 3 M URLs: `python -m benchmarks`."""

from __future__ import annotations

import argparse

from benchmarks import __main__ as speed


def main(arguments: list[str]) -> None:
    """The whole benchmark at its default size."""
    argparse.ArgumentParser(prog="python -m benchmarks.shows bench", description=__doc__).parse_args(arguments)
    speed.measure(argparse.Namespace(pages=3000, runs=3, web=None, only=None))
