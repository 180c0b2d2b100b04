"""`python -m tests.golden diff [NAME…]`, `… accept NAME… --reason "…"`, `… show NAME`.

A name is that of a run (`orders/demo/gws`) or of a folder of runs (`orders/demo`, `exports`). Exit codes: 0 nothing
differs, 1 something does, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.golden import ledger, parts
from tests.support.places import ROOT, shared_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    diff = commands.add_parser("diff", help="show what differs from the expected texts, line by line")
    diff.add_argument("names", nargs="*", metavar="NAME")
    diff.add_argument(
        "--against",
        metavar="COMMIT",
        help="run the code of that commit, too, and compare the two, orders and lists as a whole",
    )
    accept = commands.add_parser("accept", help="make what comes out now the expected texts")
    accept.add_argument("names", nargs="+", metavar="NAME")
    accept.add_argument("--reason", required=True, help="why the new texts are right; kept in the ledger")
    show = commands.add_parser("show", help="print what comes out now, orders and lists as a whole")
    show.add_argument("names", nargs=1, metavar="NAME")
    asked = parser.parse_args(arguments)
    try:
        return _run(asked)
    except ValueError as error:
        print(f"golden: {error}", file=sys.stderr)
        return 2


def _run(asked: argparse.Namespace) -> int:
    if asked.command == "show":
        print(_whole(asked.names[0]), end="")
        return 0
    if asked.command == "accept":
        ledger.accept({}, asked.reason)  # refuses a bad reason before minutes of runs
        changed = ledger.accept(_texts(asked.names), asked.reason)
        print("\n".join([*(f"accepted {name}" for name in changed), f"{len(changed)} changed"]))
        return 0
    if asked.against:
        return _print([_against(name, asked.against) for name in asked.names])
    return _print([ledger.difference(name, text) for name, text in _texts(asked.names).items()])


def _texts(names: Sequence[str]) -> dict[str, str | None]:
    """Return the texts of the wanted runs, None for those that have an expected text and are no longer made."""
    texts: dict[str, str | None] = dict(parts.made(names))
    prefixes = names or [part for part in parts.PARTS if part not in parts.UNASKED]
    missing = set(ledger.names_under(prefixes)) - set(texts) - parts.cannot_be_made()
    return {**texts, **dict.fromkeys(sorted(missing))}


def _print(differences: Sequence[Sequence[str]]) -> int:
    """Print differences; return the exit code."""
    differing = [lines for lines in differences if lines]
    for lines in differing:
        print("\n".join([*lines, ""]))
    print(f"{len(differing)} of {len(differences)} differ")
    return 1 if differing else 0


def _whole(name: str) -> str:
    """Return the whole text of a run; of a folder all texts, below their names."""
    texts = dict(parts.made([name], whole=True))
    if not texts:
        raise ValueError(f"{name} is the name of no run")
    return texts[name] if name in texts else "\n".join(f"== {run}\n{text}" for run, text in texts.items())


def _against(name: str, commit: str) -> list[str]:
    """Return the difference between what a run gives at a commit and what it gives now."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-golden-") as folder:
        there = str(Path(folder) / "then")
        subprocess.run(["git", "worktree", "add", "-q", "--detach", there, commit], cwd=ROOT, check=True)
        try:
            command = [sys.executable, "-m", "tests.golden", "show", name]
            shared = {**os.environ, "GEOCRAWL_SHARED": str(shared_folder())}
            then = subprocess.run(command, cwd=there, env=shared, check=True, stdout=subprocess.PIPE, text=True).stdout
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=ROOT, check=True)
    return ledger.compared(then, _whole(name), f"{name}: {commit}", f"{name}: now")


if __name__ == "__main__":
    sys.exit(main())
