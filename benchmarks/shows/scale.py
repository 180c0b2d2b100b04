"""Crawl a synthetic web of 1,000 hosts and a million pages by 1, 2, 4 and 8 processes on one PostgreSQL.

Pages a second, the database's load, politeness and fairness by the web's own access log. Writes j_scale.json.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from benchmarks import machine, scale
from tests.support import scale_crawl
from tests.support.scale_web import Web


def main(arguments: list[str]) -> None:
    """Measure each number of processes, print the figures, write j_scale.json."""
    plan = scale_crawl.Plan()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows scale", description=__doc__)
    parser.add_argument("--hosts", type=int, default=plan.web.hosts, help="[%(default)s]")
    parser.add_argument("--pages", type=int, default=1_000_000, help="pages of the web [%(default)s]")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8], help="processes [1 2 4 8]")
    parser.add_argument("--visits", type=int, default=plan.visits, help="concurrent visits of each [%(default)s]")
    parser.add_argument("--seconds", type=float, default=plan.seconds, help="of each window [%(default)s]")
    parser.add_argument("--delay", type=float, default=plan.delay_s, help="between requests of a host [%(default)s]")
    parser.add_argument("--strategy", default=plan.strategy, help="[%(default)s]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    plan = replace(
        plan,
        web=Web(options.hosts, options.pages // options.hosts),
        visits=options.visits,
        seconds=options.seconds,
        delay_s=options.delay,
        strategy=options.strategy,
    )
    rows = []
    for processes in options.workers:
        rows.append(scale_crawl.measure(replace(plan, processes=processes)))
        print(rows[-1], flush=True)
    web = {**plan.web._asdict(), "visits": plan.visits, "delay_s": plan.delay_s}
    cost = scale.slopes(rows)
    for row in (cost, *scale.plan(cost)):
        print(row)
    if not options.no_write:
        print(
            machine.write(
                "j_scale", {**web, "strategy": plan.strategy, "runs": rows, "cost": cost, "plan": scale.plan(cost)}
            )
        )


if __name__ == "__main__":
    main([])
