"""Wait until a fault of this machine is over (`errors.OwnFault`), with growing pauses and one line at each end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from geocrawl.errors import OwnFault
from geocrawl.ports import Clock

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_MOST_RETURNS = 3
"""Number of times that an address is given back although others were answered in between; the fault then counts as its
own."""


class Outage:
    """The current fault of this machine, if there is one."""

    def __init__(self, clock: Clock, say: Callable[[str], object], patience_s: float) -> None:
        """`say` receives lines for a person. `patience_s`: the longest wait for the end of one outage."""
        self._clock = clock
        self._say = say
        self._patience_s = patience_s
        self._fault: OwnFault | None = None
        self._since = self._ended_at = -math.inf
        self._pauses = 0
        self._answers = 0
        self._returns = Counter[int]()
        self._returned_at: dict[int, int] = {}

    @property
    def cause(self) -> str:
        """Return the current fault of this machine as a sentence; '' for none."""
        return str(self._fault) if self._fault else ""

    def answered(self, entry_id: int) -> None:
        """Note that a server answered a visit: an outage is over."""
        self._answers += 1
        self._returns.pop(entry_id, None)
        if self._fault is not None:
            now = self._clock.monotonic()
            self._say(f"{self._fault.over} (after {now - self._since:,.0f} s).")
            self._fault, self._ended_at = None, now

    def is_of_the_address(self, entry_id: int) -> bool:
        """Return whether a fault comes again and again with this one address, while others are answered."""
        if self._returned_at.get(entry_id) != self._answers:
            self._returns[entry_id] += 1
            self._returned_at[entry_id] = self._answers
        return self._returns[entry_id] > _MOST_RETURNS

    def begin(self, fault: OwnFault) -> None:
        """Begin to wait for the end of a fault, or continue to wait."""
        now = self._clock.monotonic()
        if self._fault is None:
            self._since = now
            if now - self._ended_at > _LONGEST_PAUSE_S:
                self._pauses = 0
        if str(fault) != self.cause:
            self._say(f"{fault}: waiting; nothing is recorded as failed.")
        self._fault = fault

    def pause_s(self) -> float | None:
        """Return how long to wait before the next test, longer each time; None when the patience is over."""
        left_s = self._since + self._patience_s - self._clock.monotonic()
        if left_s <= 0:
            return None
        self._pauses += 1
        return float(min(_FIRST_PAUSE_S * 2.0 ** min(self._pauses - 1, 10), _LONGEST_PAUSE_S, left_s))

    async def is_over(self) -> bool:
        """Test whether visits may be tried again. After the longest pauses they are tried whatever the test says."""
        assert self._fault is not None, "an outage has begun"
        return await self._fault.is_over() or (self._pauses > 8 and self._pauses % 5 == 0)
