"""Large capabilities, probed by a process of its own as `python -m benchmarks.shows big` measures it."""

from __future__ import annotations

import pytest

from benchmarks.shows import big

pytestmark = pytest.mark.acceptance


@pytest.mark.timeout(400)
@pytest.mark.parametrize("case", big.cases(), ids=lambda case: case.name)
def test_a_large_document_is_read_within_its_bounds(case: big.Case) -> None:
    row = big.measure(case)
    assert row["as_promised"], row
