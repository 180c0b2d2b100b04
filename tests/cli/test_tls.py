"""Services whose TLS cannot be verified, by the commands: what is stored of them and who says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli import tls_visits
from tests.support.parts import OPENSSL


@pytest.mark.skipif(shutil.which("openssl") is None, reason=OPENSSL.reason)
def test_probe_search_show_and_status_name_the_fault(tmp_path: Path) -> None:
    found = tls_visits.measure(tmp_path, ("good", "expired"))
    good, expired = found["servers"]
    assert [good[name] for name in ("verdict", "deviations", "strict", "search", "show")] == ["valid", [], "ok", "", ""]
    assert expired["verdict"] == "valid"
    assert expired["deviations"] == ["tls-expired"]
    assert expired["strict"] == "tls"
    assert "tls-expired" in expired["show"]
    assert expired["search"] == "tls-expired"
    assert "2: the server's TLS was not verified (tls-expired)" in found["search"]
    assert found["status"] == "not verified at valid endpoints: tls-expired 1"
