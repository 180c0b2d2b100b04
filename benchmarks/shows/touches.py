"""Count the files and lines that a new strategy, a new kind and a new command touch: CONTRIBUTING's worked examples."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine
from tests.support import examples
from tests.support.places import ROOT

EXAMPLES: dict[str, Callable[[Path], None]] = {
    "strategy": examples.add_strategy,
    "kind": examples.add_kind,
    "command": examples.add_command,
}


def main(arguments: list[str]) -> None:
    """Apply each example to a checkout of its own, print what `git diff` counts, write e_touches.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows touches", description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    figures = {name: measure(add) for name, add in EXAMPLES.items()}
    for name, row in figures.items():
        print(f"   a new {name}: {row['new_files']} new files, {row['changed_files']} changed, {row['lines']} lines")
        for file, lines in row["files"].items():
            print(f"      {lines:>4}  {file}")
    if not options.no_write:
        print(machine.write("e_touches", {"examples": figures}))


def measure(add: Callable[[Path], None]) -> dict[str, Any]:
    """Return the files that `add` makes and changes in a checkout of the last commit, with their added lines."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-touches-") as temporary:
        checkout = Path(temporary) / "geocrawl"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(checkout)], check=True)
        add(checkout)
        _git(checkout, "add", "--all")
        counted = [line.split("\t") for line in _git(checkout, "diff", "--staged", "--numstat").splitlines()]
        made = _git(checkout, "diff", "--staged", "--name-only", "--diff-filter=A").splitlines()
    files = {name: int(added) + int(removed) for added, removed, name in counted}
    return {
        "new_files": len(made),
        "changed_files": len(files) - len(made),
        "lines": sum(files.values()),
        "lines_in_changed_files": sum(lines for name, lines in files.items() if name not in made),
        "files": files,
    }


def _git(checkout: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(checkout), *arguments], check=True, capture_output=True, text=True).stdout
