"""What the documentation asks of this catalogue, by `curl` and in Python, is answered with something in it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from geocrawl.demo import DemoWeb
from tests.web.conftest import served

ROOT = Path(__file__).parents[2]
SERVER = "http://127.0.0.1:8080"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
PYTHON = [each for each in re.findall(r"^```python\n(.+?)^```", TEXT, re.M | re.S) if SERVER in each]


def _commands() -> list[str]:
    """Return the commands, each on one line without its comment."""
    lines = re.findall(r"^ *curl .*$", TEXT.replace("\\\n", " "), re.M)
    return [line.strip() for line in lines if SERVER in line]


def test_the_documentation_has_examples() -> None:
    assert len(_commands()) >= 9 and len(PYTHON) == 2


@pytest.mark.parametrize("command", _commands())
def test_an_example_of_curl_is_answered(client: TestClient, command: str) -> None:
    words = iter(shlex.split(command, comments=True)[1:])
    headers, parameters, address = {}, {}, ""
    for word in words:
        if word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "--data-urlencode":
            name, _, value = next(words).partition("=")
            parameters[name] = value
        elif word == "-o":
            next(words)
        elif word != "-G":
            address = word
    assert address.startswith(SERVER)
    answer = client.get(address.removeprefix(SERVER), params=parameters or None, headers=headers)
    assert answer.status_code == 200 and len(answer.content) > 200, answer.text[:300]
    if "application/geo+json" in answer.headers["content-type"]:
        assert answer.json().get("features") != [], "an example that finds nothing shows nothing"


def test_examples_in_python_read_the_catalogue(
    crawled: Path, demo_web: DemoWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sickle", reason="needs sickle: make dev-env")
    with served(crawled, demo_web) as address:
        for example in PYTHON:
            exec(compile(example.replace(SERVER, address), "docs", "exec"), {})
            assert len(capsys.readouterr().out) > 20, example
