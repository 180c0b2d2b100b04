"""What only the laboratory needs, and the heavy parts of single strategies, are not loaded by a crawl."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.demo import DemoWeb
from geocrawl.priority.registry import strategies
from tests.support.processes import clean_environment

LAB_ONLY = {"geocrawl.lab", "matplotlib", "scipy.optimize"}
WITH_SCIPY = {"hits", "ipagerank", "pagerank"}
CODE = """
import sys
from geocrawl.cli import main
try:
    main()
finally:
    sys.stderr.write("\\nLOADED " + " ".join(sys.modules))
"""


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def loaded(folder: Path, *arguments: str) -> set[str]:
    """Run a command in a process of its own; return the names of the modules that it loaded."""
    command = [sys.executable, "-c", CODE, *arguments]
    environment = clean_environment(folder)
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("LOADED ")[2].split())


@pytest.mark.parametrize("strategy", strategies())
def test_a_crawl_loads_nothing_of_the_laboratory(tmp_path: Path, web: DemoWeb, strategy: str) -> None:
    options = ("--db", "c.db", "--proxy", web.proxy_url, "--delay", "0", "--max-pages", "60", "--quiet")
    modules = loaded(tmp_path, "crawl", *web.seeds, "--strategy", strategy, *options)
    assert "geocrawl.crawler.loop" in modules
    assert not LAB_ONLY & modules
    assert ("scipy" in modules) is (strategy in WITH_SCIPY)
