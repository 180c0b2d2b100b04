"""Large capabilities, probed by a process of its own."""

from __future__ import annotations

import pytest

from tests.acceptance import large_capabilities

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize("case", large_capabilities.small_cases(), ids=lambda case: case.name)
def test_a_large_document_is_read_within_its_bounds(case: large_capabilities.Case) -> None:
    row = large_capabilities.measure(case)
    assert row["as_promised"], row
