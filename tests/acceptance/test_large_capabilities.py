"""Large capabilities, probed by a process of its own as `python -m benchmarks.shows big` measures it."""

from __future__ import annotations

import pytest

from tests.support import large_capabilities

pytestmark = pytest.mark.acceptance


@pytest.mark.timeout(400)
@pytest.mark.parametrize("case", large_capabilities.cases(), ids=lambda case: case.name)
def test_a_large_document_is_read_within_its_bounds(case: large_capabilities.Case) -> None:
    row = large_capabilities.measure(case)
    assert row["as_promised"], row
