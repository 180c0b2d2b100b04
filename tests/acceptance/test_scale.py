"""Two processes on one PostgreSQL crawl a web together."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support import scale_web
from tests.support.postgres import programs_or_skip, running_server
from tests.support.processes import Started, clean_environment, geocrawl

WEB = scale_web.Web(hosts=12, pages_a_host=8)
DELAY_S = 0.1


@pytest.mark.acceptance
def test_processes_share_a_web_without_asking_a_host_twice_at_once(tmp_path: Path) -> None:
    programs_or_skip()
    how = ["--strategy", "gws", "--workers", "6", "--delay", str(DELAY_S), "--max-depth", "30", "--economy", "0"]
    environment, log = clean_environment(tmp_path), tmp_path / "access.jsonl"
    with running_server(hasty=False) as server, scale_web.served(WEB, log) as proxy:
        where = ["--db", server.new_catalogue(), "--proxy", proxy, "--json", "--quiet"]
        start = [scale_web.address(host, 0) for host in range(WEB.hosts)]
        both = [Started(geocrawl("crawl", *start, *where, *how), env=environment) for _ in range(2)]
        ended = [each.wait(limit_s=600.0) for each in both]
    assert [each.exit_code for each in ended] == [0, 0], [each.stderr for each in ended]
    requests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    pages = Counter(urlsplit(each["url"]).netloc for each in requests if each["kind"] == "page")
    assert set(pages.values()) == {WEB.pages_a_host} and len(pages) == WEB.hosts
    kept = scale_web.politeness(requests, DELAY_S)
    assert (kept["two_at_once"], kept["before_the_delay"], kept["pages_asked_twice"]) == (0, 0, 0)
    assert all(json.loads(each.stdout)["pages"] > 0 for each in ended), "both took part"
