"""`reason_of`: one line for a person of what Playwright says when Chromium does not start."""

from __future__ import annotations

import pytest

from geocrawl.browser.renderer import reason_of

NO_SANDBOX = """BrowserType.launch: Target page, context or browser has been closed
Browser logs:
Chromium sandboxing failed!
Call log:
  - [pid=21208][err] [21208:21208:1122/143518.904540:ERROR:content/browser/zygote_host/zygote_host_impl_linux.cc:130] \
No usable sandbox! If this is a Debian system, please install the chromium-sandbox package to solve this problem.
"""
"""Recorded where max_user_namespaces is 0."""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NO_SANDBOX, "it finds no sandbox; let ordinary users create user namespaces on this machine"),
        (
            "BrowserType.launch: Executable doesn't exist\nCall log:\n  - x",
            "BrowserType.launch: Executable doesn't exist",
        ),
    ],
)
def test_why_chromium_does_not_start_is_one_line(error: str, reason: str) -> None:
    assert reason_of(error).startswith(reason)
    assert "\n" not in reason_of(error)
