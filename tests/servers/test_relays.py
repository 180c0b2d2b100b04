"""Real servers behind relays that break one thing: what a GIS gets over is got over, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.servers.relays import DEFECTS, as_expected, probe_relayed

pytestmark = [pytest.mark.servers, pytest.mark.shared]

MOST_REQUESTS = 8 + 3
"""Of a service: `map_requests`, and those for its capabilities."""


@pytest.mark.parametrize(
    ("server", "kind"), [("mapserver", "wms"), ("qgis", "wfs"), ("mapcache", "wmts"), ("mapproxy", "tms")]
)
def test_a_service_behind_a_defect_is_judged_as_a_gis_finds_it(
    servers: dict[str, dict[str, Any]], tmp_path: Path, server: str, kind: str
) -> None:
    rows = probe_relayed(servers, tmp_path, [(server, kind)])
    assert {row["defect"] for row in rows} == {each.name for each in DEFECTS if kind in each.kinds}
    assert [(row["defect"], row["level"], row["proof"]) for row in rows if not as_expected(row, rows)] == []
    assert max(row["requests"] for row in rows) <= MOST_REQUESTS
