"""Read the probes of endpoints: single ones of the last days, and the sums into which older ones were rolled up."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import case, or_, select
from sqlalchemy.sql import bindparam

from geocrawl.model.availability import ProbeSum, excused_failure, one_probe
from geocrawl.model.downtimes import EXCUSED
from geocrawl.model.health import UNSEEN_S
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.schema.tables import PROBE, PROBE_SUM

_SUMS = (
    select(*(column for column in PROBE_SUM.c if column.name != "start"))
    .where(in_list(PROBE_SUM.c.endpoint_id, "endpoints"), or_(PROBE_SUM.c.probes > 0, PROBE_SUM.c.is_last_excused == 1))
    .where(PROBE_SUM.c.last_at >= bindparam("since"), PROBE_SUM.c.first_at < bindparam("end"))
    .order_by(PROBE_SUM.c.endpoint_id, PROBE_SUM.c.start)
)
# An answer that nothing had changed (304) is faster than the document in whose place it stands.
_MILLISECONDS = case((PROBE.c.reason != "not-modified", PROBE.c.elapsed_ms))
_PROBES = (
    select(PROBE.c.endpoint_id, PROBE.c.at, PROBE.c.status, _MILLISECONDS)
    .where(in_list(PROBE.c.endpoint_id, "endpoints"), PROBE.c.at >= bindparam("since"), PROBE.c.at < bindparam("end"))
    .where(or_(PROBE.c.status != "unasked", PROBE.c.reason.in_(EXCUSED)))
    .order_by(PROBE.c.endpoint_id, PROBE.c.at, PROBE.c.id)
)


def read_sums(
    connection: Connection, endpoints: Collection[int], start: float, end: float = sys.float_info.max
) -> Mapping[int, list[ProbeSum]]:
    """Return the verdicts and excused failures of each endpoint, the oldest first: those from `start` to `end` and
    the ones before that hold into the time after it. Endpoints without any are missing."""
    values = {"endpoints": sorted(endpoints), "since": start - UNSEEN_S, "end": end}
    found = dict[int, list[ProbeSum]]()
    for endpoint, *row in connection.execute(_SUMS, values):
        found.setdefault(endpoint, []).append(sum_of(row))
    for endpoint, at, status, milliseconds in connection.execute(_PROBES, values):
        single = excused_failure(at) if status == "unasked" else one_probe(at, status == "valid", milliseconds)
        found.setdefault(endpoint, []).append(single)
    return found


def sum_of(row: Sequence[Any]) -> ProbeSum:
    """Return the sum in the columns of a row of `probe_sum` after its key."""
    first_at, last_at, is_last_valid, *numbers, times, is_last_excused = row
    counts = {int(bound): count for bound, count in json.loads(times).items()}
    values: Sequence[Any] = (first_at, last_at, bool(is_last_valid), *numbers, counts, bool(is_last_excused))
    return ProbeSum(*values)


def columns_of(total: ProbeSum) -> Mapping[str, object]:
    """Return a sum as the columns of `probe_sum` after its key."""
    values = {each.name: getattr(total, each.name) for each in fields(total)}
    times = json.dumps(total.times, separators=(",", ":"))
    flags = {name: int(getattr(total, name)) for name in ("is_last_valid", "is_last_excused")}
    return {**values, **flags, "times": times}
