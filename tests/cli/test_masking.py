"""Log lines hold no secrets of addresses, and strangers' text makes no line of its own."""

from __future__ import annotations

import io
import json

from geocrawl.cli.progress import log_to


def test_a_log_line_holds_neither_secrets_nor_a_second_line() -> None:
    stream = io.StringIO()
    title = 'x\n{"level": "error", "event": "forged"}\x1b]0;owned\x07'
    log_to(stream, json_lines=True).info("service found", url="http://a.test/?token=sesame", title=title)
    line, *more = stream.getvalue().splitlines()
    assert more == []
    assert json.loads(line)["url"] == "http://a.test/?token=***"
    assert "\x1b" not in line and json.loads(line)["event"] == "service found"


def test_a_log_line_for_people_quotes_values_of_several_words() -> None:
    stream = io.StringIO()
    log_to(stream).info("seed not read", url="http://a.test/", reason="no answer", status=None)
    log_to(stream, quiet=True).info("progress")
    (line,) = stream.getvalue().splitlines()
    assert (
        line.partition("Z ")[2] == "[info     ] seed not read        reason='no answer' status=None url=http://a.test/"
    )
