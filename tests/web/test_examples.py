"""Every `curl` of the documentation that asks this catalogue answers 200, with something in it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from starlette.testclient import TestClient

ROOT = Path(__file__).parents[2]
SERVER = "http://127.0.0.1:8080"


def _commands() -> list[str]:
    """Return the commands, each on one line without its comment."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text("utf-8") for page in pages).replace("\\\n", " ")
    return [line.strip() for line in re.findall(r"^ *curl .*$", text, re.M) if SERVER in line]


def test_the_documentation_has_examples() -> None:
    assert len(_commands()) >= 9


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
