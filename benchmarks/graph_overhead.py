"""`python -m benchmarks.graph_overhead`: CPU seconds of the strategies over a link graph, for a made-up crawl.

What a crawl with them costs more than one with best-first: packing and reading memos, the graph, the iterations, and
handing out new ranks (their writing is the frontier's work; the number of ranks is shown). Sites of a hundred pages,
each with the same ten links of its navigation, and fifteen more to known and new pages; a third of the links has words
of the topic. The rows named *every* iterate every 200 downloads as the papers do, the others on the default schedule.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator

from geocrawl.model import Feedback, Purpose, State
from geocrawl.ports import Strategy
from geocrawl.priority.codec import pack_link_values
from geocrawl.priority.registry import make_strategy

PER_SITE, NAVIGATION, OTHERS = 100, 10, 15


def stream(pages: int, seed: int) -> Iterator[tuple[int, list[tuple[str, int]], list[float], float]]:
    """(entry id, links, their similarities, the page's) of each page."""
    draw = random.Random(seed)
    known = pages
    for number in range(1, pages + 1):
        site = (number - 1) // PER_SITE * PER_SITE + 1
        targets = dict.fromkeys(site + k for k in range(NAVIGATION))
        while len(targets) < NAVIGATION + OTHERS:
            if draw.random() < 0.5:
                known += 1
                targets[known] = None
            else:
                targets[1 + int(draw.random() ** 2 * known)] = None
        links = [(f"http://site{t // PER_SITE}.example/{t}", t) for t in targets]
        figures = [draw.random() if draw.random() < 0.33 else 0.0 for _ in links]
        yield number, links, figures, draw.random()


def cost(strategy: Strategy, pages: int, *, memos: bool) -> tuple[float, int, int, int]:
    """(CPU seconds, iterations, ranks handed out, bytes of the dump)."""
    spent, iterations, ranks = 0.0, 0, 0
    for number, links, figures, page in stream(pages, 1):
        started = time.process_time()
        packed = b""
        if memos:
            packed = pack_link_values(page, ((name, figure) for (name, _), figure in zip(links, figures, strict=True)))
        strategy.learn(Feedback(number, number, Purpose.PAGE, 1, None, State.VISITED, "ok", None, tuple(links), packed))
        batches = strategy.revise()
        if batches is not None:
            iterations += 1
            ranks += sum(len(batch) for batch in batches)
        spent += time.process_time() - started
    return spent, iterations, ranks, len(strategy.dump())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--only", default="")
    pages, only = parser.parse_args().pages, parser.parse_args().only
    print(f"{'strategy':<18}{'CPU s':>8}{'ms a page':>11}{'iterations':>12}{'ranks':>12}{'dump MiB':>10}")
    for name in ("hits", "ipagerank", "pagerank"):
        for every in (False, True):
            label = f"{name} every" if every else name
            if only and label != only:
                continue
            options = {f"{name}.growth": "1"} if every else {}
            spent, iterations, ranks, size = cost(make_strategy(name, options), pages, memos=name != "pagerank")
            row = f"{spent:>8.1f}{1000 * spent / pages:>11.2f}{iterations:>12,}{ranks:>12,}{size / 2**20:>10.1f}"
            print(f"{label:<18}{row}", flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
