"""Fixtures shared by all rooms' tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says nothing here: machines are busy, and the first Chinese text loads a dictionary.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded worlds and answers beside the checkout; a test skips without it, in CI it fails."""
    folder = Path(os.environ.get("GEOCRAWL_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "corpus").is_dir():
        reason = f"recorded worlds and answers are not at {folder} (set GEOCRAWL_SHARED)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
