"""Secrets in addresses do not reach logs, status or exports."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.cli.progress import configure_logging
from geocrawl.sanitize import masked

MASKED = [
    ("http://a.test/wms?token=abc123&layers=x", "http://a.test/wms?token=***&layers=x"),
    ("https://a.test/DataServer?T=vec_w&tk=0123abcd", "https://a.test/DataServer?T=vec_w&tk=***"),
    ("http://a.test/?map=m&API_KEY=q.w-e", "http://a.test/?map=m&API_KEY=***"),
    ("http://user:pa:ss@a.test/x", "http://***@a.test/x"),
    ("http://a.test/x;jsessionid=99", "http://a.test/x;jsessionid=***"),
    ('{"detail": "http://a.test/?pwd=hidden"}', '{"detail": "http://a.test/?pwd=***"}'),
    ("http://a.test/?X-Amz-Signature=ff&x=1", "http://a.test/?X-Amz-Signature=***&x=1"),
    ("http://a.test/?u=http%3A%2F%2Fb%3Ftoken%3Dabc", "http://a.test/?u=http%3A%2F%2Fb%3Ftoken%3D***"),
    ("http://a.test/?u=b%253Fapi_key%253Dabc&x=1", "http://a.test/?u=b%253Fapi_key%253D***&x=1"),
    ("http://a.test/#access_token=abc", "http://a.test/#access_token=***"),
    ("http://user:password-that-was-c…", "http://***…"),
]
LEFT = [
    "http://a.test/?layers=token&keyword=roads",
    "a@b.test",
    "http://a.test/?monkey=1",
    "http://a.test/@user:1",
    "100%26",
]


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_values_that_open_something_are_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("text", LEFT)
def test_the_rest_is_left(text: str) -> None:
    assert masked(text) == text


@given(st.text("?&;=@:/token key \n", max_size=300))
def test_masking_twice_changes_nothing(text: str) -> None:
    assert masked(masked(text)) == masked(text)


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
