"""What `config check` accepts a run begins with, and what it refuses no run begins with, whatever people write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from geocrawl.app.findings import check_settings, demand_usable
from geocrawl.config import load
from geocrawl.config.names import settings_by_name
from geocrawl.errors import GeocrawlError
from tests.support.crawls import crawl
from tests.support.loopback import Handler, Server, running

_SIMPLE = sorted(name for name, each in settings_by_name().items() if each.takes != "table" and name != "db")
_ODD = st.sampled_from(
    [
        *(0, 1, -1, True, 0.5, 1e300, float("inf"), float("nan"), 2**63, 10**400, "9" * 400, "9" * 400 + "d"),
        *("", " ", "nope", "a\0b", "\n", "10m", "5MiB", "1e308", "22-6", "/nope/x", "/", "地图", "::/0", "direct"),
        *("http://[::1", "http://127.0.0.1:99999", "socks5://h", [], ["a"], ["text/html"], [1], {"a": 1}),
    ]
)
_RARE = ("sites", "set", "processes", "ip_delay_factor")
_OF_OTHERS = ("metrics_file", "csw_python")
"""Settings of single commands, and one that the daemon tries again."""


@bounded(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(_SIMPLE), _ODD | st.integers() | st.text(max_size=8), min_size=1, max_size=2))
def test_the_check_and_the_start_agree(options: dict[str, object]) -> None:
    findings, settings = check_settings(options, {}, Path("/"), [])
    if settings is None:
        problems = {finding.text for finding in findings if finding.severity}
        assert problems and not any("\n" in problem for problem in problems)
        try:
            load(options, environ={}, cwd=Path("/"), files=[])
        except GeocrawlError:
            return
        raise AssertionError("a start reads what the check refuses")
    unusable = [each for each in findings if each.severity and not each.sentence.startswith(_OF_OTHERS)]
    try:
        demand_usable(settings)
    except GeocrawlError:
        assert any(each.severity for each in findings)
    else:
        assert not unusable or set(options) & set(_OF_OTHERS)


class OnePage(Handler):
    """A web of one page."""

    def respond(self) -> None:
        self.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 18\r\n\r\n<html>maps</html>\n")


def test_a_crawl_runs_with_the_largest_numbers(tmp_path: Path) -> None:
    numbers = {each.name for each in settings_by_name().values() if each.takes not in ("text", "true/false", "list")}
    named: dict[str, object] = {"delay": 0, "allow_private": True}
    for name in sorted(numbers - {*named, *_RARE}):
        named[name] = next(most for most in (10**15, 10**10, 10**6, 1000, 100, 1) if _is_read({name: most}))
    assert len(named) > 60
    settings = load(named, environ={}, cwd=tmp_path, files=[]).settings
    with running(Server(OnePage)) as server:
        report, _ = crawl(settings, tmp_path / "c.db", [f"http://127.0.0.1:{server.server_port}/"])
    assert report.summary.stopped == "done" and report.summary.pages == 1


def _is_read(options: dict[str, object]) -> bool:
    try:
        return bool(load(options, environ={}, cwd=Path("/"), files=[]))
    except GeocrawlError:
        return False


@pytest.mark.parametrize("name", ["db", "log_file", "stop_rules", "metrics_file", "csw_python", "browser_path"])
@pytest.mark.parametrize("path", ["/tmp/" + "x" * 5_000, "/dev/null/x", "/tmp/" + "a/" * 3_000 + "b"])
def test_a_path_that_no_system_has_is_refused_in_words(name: str, path: str) -> None:
    findings, _ = check_settings({name: path}, {}, Path("/"), [])
    assert any(each.severity for each in findings) and not any("\n" in each.text for each in findings)


@pytest.mark.parametrize("path", ["/dev/null", "/dev/full"])
def test_a_device_is_no_catalogue(path: str) -> None:
    findings, _ = check_settings({"db": path}, {}, Path("/"), [])
    assert "is no file" in findings[0].text


def test_a_number_with_more_digits_than_python_reads_is_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "geocrawl.toml"
    file.write_text(f"max_pages = {'9' * 5_000}\n")
    findings, settings = check_settings({}, {}, tmp_path, [file])
    assert settings is None and "not TOML" in findings[0].text


def test_a_file_without_end_is_refused_in_words() -> None:
    findings, settings = check_settings({}, {}, Path("/"), [Path("/dev/zero")])
    assert settings is None and "/dev/zero: cannot be read: is longer than 16 MiB" in {each.text for each in findings}
