"""A host that is forgotten while the daemon runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from geocrawl.demo.web import DemoWeb
from tests.support import forked
from tests.support.processes import clean_environment

from .test_daemon import VALID, ask, command, daemon, wait_for


@pytest.fixture
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def test_a_running_daemon_asks_it_no_more_and_lists_it_nowhere(tmp_path: Path, web: DemoWeb) -> None:
    command(tmp_path, "seeds", "add", *web.seeds)
    host = sorted(web.expected_valid)[0].partition("/")[0]
    with daemon(tmp_path, web) as running:
        wait_for(lambda: ask(tmp_path, VALID) == len(web.expected_valid), "the demo's services")
        told = command(tmp_path, "forget", host, "--reason", "mail of 3 May")
        assert f"{host}: " in told and "will not be visited again" in told
        asked = len(web.requests)
        command(tmp_path, "seeds", "add", f"http://{host}/")
        command(tmp_path, "reload")
        wait_for(lambda: "configuration read again" in running.log(), "the reload")
        assert [each.url for each in web.requests[asked:] if urlsplit(each.url).hostname == host] == []
        assert running.end() == 0, running.log()
    assert host not in command(tmp_path, "export", "--format", "jsonl")
    status = json.loads(command(tmp_path, "status", "--json"))
    assert status["blocked"] == 1 and status["refused"]["forgotten"] > 0
    assert "1 host removed on request" in command(tmp_path, "status")
    listed = json.loads(command(tmp_path, "forget", "--list", "--json"))
    assert [(row["host"], row["reason"]) for row in listed] == [(host, "mail of 3 May")]
    assert "may be visited again" in command(tmp_path, "forget", "--undo", host)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("forget",), 2, "give a HOST"),
        (("forget", "co.uk"), 2, "is a public suffix"),
        (("forget", "not a host"), 2, "is not a host"),
        (("forget", "a.example", "--list"), 2, "give a HOST"),
        (("forget", "--undo", "a.example"), 1, "was not removed on request"),
        (("release", "a.example"), 1, "is not quarantined"),
    ],
)
def test_what_cannot_be_meant_is_one_line(tmp_path: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    env = clean_environment(tmp_path)
    forked.geocrawl(("seeds", "add", "http://a.example/", "--db", str(tmp_path / "c.db")), env=env)
    done = forked.geocrawl((*arguments, "--db", str(tmp_path / "c.db")), env=env)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (code, 1)
    assert said in done.stderr
