"""Say how good a service is, whatever was asked: alive first, then proven, then well described."""

from __future__ import annotations

from collections.abc import Mapping

_OF_HEALTH: Mapping[str, float] = {"alive": 1.0, "degraded": 0.6, "new": 0.5, "down": 0.15, "gone": 0.0}
_OF_LEVEL: Mapping[str, float] = {"delivers": 1.0, "answers": 0.7, "advertised": 0.4}
_UNPROVEN = 0.3


def quality_of(health: str, level: str, completeness: int) -> float:
    """Return the quality of a service, 0 to 1: half its health, a third the level of its proof, the rest how much it
    says of itself (`completeness`, 0 to 100)."""
    return 0.5 * _OF_HEALTH.get(health, 0.5) + 0.3 * _OF_LEVEL.get(level, _UNPROVEN) + 0.2 * completeness / 100
