"""Samples of many cases: some for `make test`, the rest, marked `long`, for `make long` and `.ci/run`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return all cases of a parametrisation, those that are not kept for `make test` with the mark `long`.

    A case is a value, or a tuple of values.
    """
    cases = list(cases)
    assert all(each in cases for each in kept), f"{kept} of {cases}"
    return [each if each in kept else _long(each) for each in cases]


def _long(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
