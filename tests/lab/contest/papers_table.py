"""The table of the papers' claims in docs/evaluation.md, from what the show `papers` measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any


def table(worlds: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table in docs/evaluation.md: a claim a line, a column for each world with claims."""
    worlds = {name: world for name, world in worlds.items() if world["claims"]}
    yield f"| claim | presets | {' | '.join(worlds)} |"
    yield f"|---|---|{'---|' * len(worlds)}"
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for name, world in worlds.items():
        for claim in world["claims"]:
            experiment = "".join(_EXPERIMENT.findall(claim["web"])) or claim["web"].removeprefix(name)
            key = (claim["paper"], claim["claim"], experiment, claim["presets"])
            rows.setdefault(key, {})[name] = _cell(claim)
    for (paper, text, experiment, presets), cells in rows.items():
        where = f" ({experiment})" if experiment and experiment not in text else ""
        found = " | ".join(cells.get(name, "") for name in worlds)
        yield f"| {paper.partition(' ')[0]}: {text}{where} | {presets} | {found} |"


_EXPERIMENT = re.compile(r"\((.+)\)$")
_VALUE = re.compile(r"([\d.,]+) for ")


def _cell(claim: Mapping[str, str]) -> str:
    """Return the verdict with the figures, of two presets in the order in which they are named."""
    if not claim["figures"]:
        return claim["verdict"]
    label, _, rest = claim["figures"].partition(": ")
    values = _VALUE.findall(rest)
    return f"**{claim['verdict']}**, {f'{label} {values[0]} : {values[1]}' if values else claim['figures']}"
