"""`python -m benchmarks.shows` runs all of them at full size; with a NAME only that one: `… worlds --world mixed`."""

from __future__ import annotations

import importlib
import sys
import time

NAMES = (
    "fresh",
    "corpus",
    "big",
    "status",
    "bombs",
    "servers",
    "kinds",
    "kill",
    "worlds",
    "bench",
    "exposures",
    "contest",
    "overhead",
    "choices",
    "fusion",
    "plans",
    "bayes",
    "urls",
    "harvest",
    "clusters",
    "soak",
    "faults",
    "systemd",
    "attacks",
    "politeness",
    "ip_bound",
    "silent",
    "settlement",
    "orders",
    "touches",
    "sturdy_ends",
    "sturdy_files",
    "sturdy_guest",
    "sturdy_transactions",
    "sturdy_stalls",
    "sturdy_fuzz",
    "tls",
    "relays",
    "browser",
    "economy",
    "papers",
    "requests",
    "exports",
    "search",
    "told",
    "serve",
    "peers",
    "page_cpu",
    "mining",
    "migrate",
    "frontier_curve",
    "pg_faults",
    "scale",
    "processes",
    "area_workers",
    "search_postgres",
    "starts",
    "probes",
    "crowd",
)


def main(arguments: list[str]) -> None:
    """Run the named measurement with its options, or all."""
    if arguments and arguments[0] not in NAMES:
        raise SystemExit(f"usage: python -m benchmarks.shows [{'|'.join(NAMES)} [OPTION]…]")
    for name in arguments[:1] or NAMES:
        begun = time.monotonic()
        print(f"== {name}", flush=True)
        importlib.import_module(f"benchmarks.shows.{name}").main(arguments[1:])
        print(f"   {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
