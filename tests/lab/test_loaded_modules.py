"""What only the laboratory needs, and the heavy parts of single strategies, are not loaded by a crawl."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from geocrawl.demo import DemoWeb
from geocrawl.priority.registry import strategies
from tests.support.processes import clean_environment
from tests.support.samples import sampled

LAB_ONLY = {"geocrawl.lab", "matplotlib", "scipy.optimize"}
OF_OTHER_COMMANDS = {"aiohttp", "httpx", "sqlalchemy"}
"""For webhooks, exports and the schema: to load them takes longer than a short crawl's pages."""
WITH_SCIPY = {"hits", "ipagerank", "pagerank"}
"""They load it when they iterate, after some tens of pages."""
CODE = """
import sys
from geocrawl.cli import main
command, *strategies = sys.argv[1:]
for strategy in strategies:
    sys.argv[1:] = [*command.split(), "--strategy", strategy, "--db", strategy + ".db"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (strategy, end.code)
sys.stderr.write("\\nLOADED " + " ".join(sys.modules))
"""


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def loaded(folder: Path, command: str, strategies: Sequence[str]) -> set[str]:
    """Run a command with each strategy, in one process; return the names of the modules that it loaded."""
    program = [sys.executable, "-c", CODE, command, *strategies]
    environment = clean_environment(folder)
    done = subprocess.run(
        program, capture_output=True, text=True, cwd=folder, env=environment, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("LOADED ")[2].split())


@pytest.mark.parametrize("name", sampled([*sorted(WITH_SCIPY), "all others"], "all others"))
def test_a_crawl_loads_nothing_of_the_laboratory(tmp_path: Path, web: DemoWeb, name: str) -> None:
    with_scipy = name in WITH_SCIPY
    options = f"--proxy {web.proxy_url} --delay 0 --max-pages {60 if with_scipy else 15} --quiet"
    some = [name] if with_scipy else sorted({*strategies()} - WITH_SCIPY)
    modules = loaded(tmp_path, f"crawl {' '.join(web.seeds)} {options}", some)
    assert "geocrawl.crawler.loop" in modules
    assert not (LAB_ONLY | OF_OTHER_COMMANDS) & modules
    assert ("scipy" in modules) is with_scipy
