"""The order of requests of every strategy and preset, on small webs here and on recorded worlds."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from geocrawl.priority.registry import presets, strategies
from tests.golden.layout import hash_of
from tests.golden.replay import crawl_demo, crawl_world
from tests.support.commands import geocrawl
from tests.support.places import shared_folder

STRATEGIES = (*strategies(), *presets())
FIRST = 20
"""Requests of an order that are kept with their addresses, the others by a hash."""
AS_USED = "as-used"
"""The default strategy with the workers and the delay of a crawl, in virtual time."""
MADE, PAGES, BUDGET = ("mixed", "portal", "agency"), 300, 120
"""Kinds of made webs, their pages, and how many of them a crawl downloads."""
OFTEN = {"hits.p": "40", "ipagerank.q": "40", "pagerank.q": "40", "bayes.revise": "40", "fusion.every": "40"}
"""So often are links ranked again on made webs, whose crawls are short; on the demo's as often as by default."""
RECORDED = {
    "portal": ("fusion", "bayes", "hits:paper"),
    "agency": ("best-first-page", "gws:paper", "pagerank:paper"),
    "mixed": ("hits", "best-first-page:gain", "bayes:pages"),
}
"""Recorded worlds, and the strategies that crawl each."""
RECORDED_BUDGET = 800
"""Pages that a crawl of a recorded world downloads."""
DEPTH = 5
"""Links that crawls of `NAME:paper`, and of recorded worlds but for the default strategy, follow: links that are too
deep are held, too."""


def names() -> list[str]:
    """Return the names of the orders on the demo's web and on the first kind of made webs."""
    webs = ("demo", MADE[0])
    return [f"orders/{web}/{file_name(each)}" for web in webs for each in (*STRATEGIES, AS_USED)]


def often_run() -> list[str]:
    """Return the names of the orders that `make test` makes: all on a made web, some on the demo's, which is larger."""
    usual = [f"orders/demo/{strategy}" for strategy in ("fusion", "gws", "bfs", AS_USED)]
    return [name for name in names() if name.startswith(f"orders/{MADE[0]}/") or name in usual]


def more_names() -> list[str]:
    """Return the names of the orders on the other kinds of made webs, which the strategies crawl in turn."""
    others = MADE[1:]
    return [f"orders/{others[index % len(others)]}/{file_name(each)}" for index, each in enumerate(STRATEGIES)]


def recorded_names() -> list[str]:
    """Return the names of the orders on recorded worlds: nine strategies, three a world."""
    return [f"recorded/{world}/{file_name(strategy)}" for world, chosen in RECORDED.items() for strategy in chosen]


def file_name(strategy: str) -> str:
    """Return the name of a strategy or preset as it stands in file names, without a colon."""
    return strategy.replace(":", "_")


def text(name: str, whole: bool = False) -> str:
    """Run a crawl; return its requests, one a line, or what is kept of them: a hash, the first and the last lines.

    The addresses of recorded worlds are those of real hosts and stay out of this project's files.
    """
    lines = _requests(name)
    if not whole:
        first = 0 if name.startswith("recorded/") else FIRST
        services = sum(line.startswith("service ") and " -> " not in line for line in lines)
        count = f"{len(lines) - 2} requests, {services} answers of services, {hash_of(lines)}"
        lines = [count, *lines[: min(first, len(lines) - 2)], *lines[-2:]]
    return "\n".join([*lines, ""])


def _requests(name: str) -> list[str]:
    """Run the crawl of an order; return its requests, why it ended and how many services are valid."""
    _, web, strategy = name.split("/")
    strategy, more = strategy.replace("_", ":"), dict[str, object]()
    if name.startswith("recorded/"):
        limits = {} if strategy == "fusion" else {"max_depth": DEPTH}
        return crawl_world(shared_folder() / "worlds" / web, strategy, RECORDED_BUDGET, {}, **limits)
    if strategy.endswith(":paper"):
        more = {"max_depth": DEPTH}
    if strategy == AS_USED:
        strategy, more = "fusion", {"workers": 5, "delay_s": 1.0}
    if web == "demo":
        return crawl_demo(strategy, 1_000, {}, **more)
    return crawl_world(_made_web(web), strategy, BUDGET, OFTEN, **more)


@cache
def _made_web(kind: str) -> Path:
    """Make a web, and keep it while this process runs."""
    folder = Path(_kept().name) / kind
    made = geocrawl("world", "make", kind, "--pages", str(PAGES), "--seed", "1", "--out", str(folder))
    assert made.code == 0, made.err
    return folder


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="geocrawl-golden-")
