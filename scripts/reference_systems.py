"""Make `geocrawl/data/reference_systems.toml` from EPSG's data, as PROJ has it.

`uv run --no-project --with pyproj python scripts/reference_systems.py geocrawl/data/reference_systems.toml`

Codes that are no reference system of two axes may lie within a range, so that there are fewer ranges.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Set
from pathlib import Path

import pyproj
from pyproj.database import get_database_metadata, query_crs_info
from pyproj.enums import PJType

_TYPES = [PJType.GEOGRAPHIC_2D_CRS, PJType.GEOGRAPHIC_3D_CRS, PJType.PROJECTED_CRS]
_ACROSS = ("east", "west")


def is_in_degrees(crs: pyproj.CRS) -> bool:
    """Return whether a system has degrees, counted from Greenwich."""
    factor, meridian = crs.axis_info[0].unit_conversion_factor, crs.prime_meridian
    return (
        crs.is_geographic and math.isclose(factor, math.radians(1)) and meridian is not None and not meridian.longitude
    )


def is_northing_first(crs: pyproj.CRS) -> bool:
    """Return whether the axis to the north comes first; at a pole both axes may point north, and have names."""
    first, second = crs.axis_info[:2]
    if first.direction == second.direction:
        return bool(first.abbrev.startswith("N"))
    return bool(first.direction not in _ACROSS and second.direction in _ACROSS)


def ranges(codes: Iterable[int], others: Set[int]) -> str:
    """Return codes as `4326 4600-4646`; none of the others lies within a range."""
    found: list[list[int]] = []
    for code in sorted(codes):
        if found and others.isdisjoint(range(found[-1][1], code)):
            found[-1][1] = code
        else:
            found.append([code, code])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def main() -> None:
    """Write the file that the command line names."""
    known = query_crs_info("EPSG", _TYPES, allow_deprecated=True)
    systems = {int(entry.code): pyproj.CRS.from_epsg(entry.code) for entry in known}
    degrees = {code for code, crs in systems.items() if is_in_degrees(crs)}
    northing = {code for code, crs in systems.items() if is_northing_first(crs)}
    source = f"EPSG {get_database_metadata('EPSG.VERSION')} (IOGP) in PROJ {pyproj.proj_version_str}"
    Path(sys.argv[1]).write_text(
        f"# Made by scripts/reference_systems.py from {source}.\n"
        "# Systems in degrees from Greenwich, and systems whose first axis points north.\n\n"
        f'degrees = "{ranges(degrees, systems.keys() - degrees)}"\n'
        f'northing_first = "{ranges(northing, systems.keys() - northing)}"\n',
        "utf-8",
    )


if __name__ == "__main__":
    main()
