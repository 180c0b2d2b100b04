"""Log lines hold no secrets of addresses, and strangers' text makes no line of its own."""

from __future__ import annotations

import io
import json

import pytest

from geocrawl.cli.logs import configure_logging


def test_a_log_line_holds_neither_secrets_nor_a_second_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import structlog

    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    configure_logging(json_lines=True, quiet=False)
    title = 'x\n{"level": "error", "event": "forged"}\x1b]0;owned\x07'
    structlog.get_logger().info("service found", url="http://a.test/?token=sesame", title=title)
    line, *more = stream.getvalue().splitlines()
    assert more == []
    assert json.loads(line)["url"] == "http://a.test/?token=***"
    assert "\x1b" not in line and json.loads(line)["event"] == "service found"
