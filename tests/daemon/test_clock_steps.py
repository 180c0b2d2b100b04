"""After the machine's clock was set, forwards or back, everything that the daemon does again and again goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from geocrawl.daemon.service import TICKS
from geocrawl.model.health import DAY_S
from geocrawl.store.upkeep.daemon_lock import ask_to_pause
from tests.fates.fates import MadeService
from tests.fates.life import Life
from tests.simulation.scheduler import START
from tests.support.samples import sampled

WITHIN_S = 10.0


class SteppedLife(Life):
    """A daemon with its real ticks, whose clock is set while it waits; time is virtual, its scheduler is not."""

    def __init__(self, folder: Path, by_s: float) -> None:
        services = [MadeService(number, "well", f"s{number}.example", number, [(-1.0, "well")]) for number in range(3)]
        super().__init__(services, 1, 1, folder, TICKS)
        self.by_s = by_s

    async def live(self) -> None:
        self.begin()
        await asyncio.sleep(1_000.0)  # none of the rarer jobs would be next
        assert self.process is not None
        self.process.wrong_by_s = self.by_s
        set_at = START + self.loop.time() + self.by_s
        await asyncio.sleep(WITHIN_S)
        late = {job["name"]: job["last_run"] - set_at for job in self.fact("daemon:jobs") if job["last_run"]}
        assert set(late) == {tick.name for tick in TICKS}
        assert all(0.0 <= each <= WITHIN_S for each in late.values()), late
        await self.is_paused(True)
        await self.is_paused(False)
        rows = self.rows("SELECT max(next_at), max(lease_until) FROM host")
        assert all(until <= set_at + 2 * DAY_S for until in rows[0]), "waits that the wrong clock wrote were shortened"
        await self.stop()

    async def is_paused(self, pause: bool) -> None:
        with self.operator() as store:
            ask_to_pause(store.database, pause=pause)
        await asyncio.sleep(WITHIN_S)
        assert self.log[-1].endswith(" paused " if pause else " going on ")
        beat: float = self.fact("daemon:lease")["beat"]
        assert START + self.loop.time() + self.by_s - beat <= WITHIN_S

    def fact(self, name: str) -> Any:
        return json.loads(self.rows(f"SELECT value FROM meta WHERE name = '{name}'")[0][0])


@pytest.mark.parametrize("by_s", sampled([-400 * DAY_S, -DAY_S, -90.0, 90.0, DAY_S, 400 * DAY_S], -DAY_S, 400 * DAY_S))
def test_every_job_pause_and_heartbeat_go_on_within_ten_seconds_of_a_step(tmp_path: Path, by_s: float) -> None:
    life = SteppedLife(tmp_path, by_s)
    life.run()
    assert life.failures == []
