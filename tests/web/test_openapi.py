"""schemathesis finds no fault in what the server answers to requests of its OpenAPI description."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from geocrawl.demo import DemoWeb
from tests.servers.mapservers import interpreter
from tests.web.conftest import served

# A limit above its maximum is lowered and no error (OGC API – Common, Part 2, 8.3.2). Expressions such as `sortby` and
# `filter` are texts in the description, whose grammar schemathesis does not know.
OTHERWISE = "negative_data_rejection,positive_data_acceptance"


@pytest.mark.servers
def test_answers_are_as_the_description_says(crawled: Path, demo_web: DemoWeb, tmp_path: Path) -> None:
    program = interpreter().with_name("schemathesis")
    if not program.is_file():
        pytest.skip(f"needs schemathesis: {interpreter()} -m pip install schemathesis")
    with served(crawled, demo_web) as address:
        command = [str(program), "run", f"{address}/api?f=json", "--seed", "1", "--max-examples", "30"]
        command += ["--exclude-checks", OTHERWISE]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout
    assert "Tested: " in done.stdout
