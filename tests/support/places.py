"""Where the checkout is, and where recorded worlds and answers lie."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def shared_folder() -> Path:
    """Return $GEOCRAWL_SHARED, else `shared` beside the checkout."""
    return Path(os.environ.get("GEOCRAWL_SHARED") or ROOT.parent / "shared")
