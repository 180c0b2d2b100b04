"""Count the links from the seeds to a service with robots.txt obeyed: by links first, else through site maps too."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from geocrawl.lab.made_worlds.parts import Web


class Walk:
    """The link graph of a made web: its answers, their links, and the answers that robots.txt forbids."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._numbers = {address: number for number, address in enumerate(web.answers)}
        self._addresses = list(web.answers)
        self._links: list[Sequence[int]] = [()] * len(self._numbers)
        self._moves: set[int] = set()
        self._maps: set[int] = set()

    def add(self, address: str, targets: Iterable[str], *, moves: bool = False, is_map: bool = False) -> None:
        """Add the links of an answer. `moves`: the answer is a redirect; `is_map`: a site map, followed last."""
        number = self._numbers[address]
        known = (self._numbers.get(target.partition("#")[0]) for target in targets)
        self._links[number] = tuple({found: None for found in known if found is not None})
        if moves:
            self._moves.add(number)
        if is_map:
            self._maps.add(number)

    def depths(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return the least number of links from a seed by address: without site maps, and with them.

        The target of a redirect is as deep as the redirect. A site map that robots.txt names is one link behind the
        first page of its host.
        """
        seeds = {self._numbers[seed]: 0 for seed in self._web.seeds}
        plain = self._spread(seeds, through_maps=False)
        entries = dict(plain)
        for host, addresses in self._web.sitemaps.items():
            of_host = (depth for number, depth in plain.items() if host_of(self._addresses[number]) == host)
            if (least := min(of_host, default=None)) is not None:
                entries |= {self._numbers[a]: min(least + 1, plain.get(self._numbers[a], least + 1)) for a in addresses}
        return self._by_address(plain), self._by_address(self._spread(entries, through_maps=True))

    def _by_address(self, depths: Mapping[int, int]) -> dict[str, int]:
        return {self._addresses[number]: depth for number, depth in depths.items()}

    def _spread(self, starts: Mapping[int, int], *, through_maps: bool) -> dict[int, int]:
        depths: dict[int, int] = {}
        waiting = deque(sorted(starts.items(), key=lambda entry: entry[1]))
        while waiting:
            number, depth = waiting.popleft()
            if depths.get(number, depth + 1) <= depth or forbidden(self._web, self._addresses[number]):
                continue
            depths[number] = depth
            if number in self._maps and not through_maps:
                continue
            if number in self._moves:
                waiting.extendleft((target, depth) for target in self._links[number])
            else:
                waiting.extend((target, depth + 1) for target in self._links[number])
        return depths


def host_of(address: str) -> str:
    """Return host[:port] of an address."""
    return address.removeprefix("http://").partition("/")[0]


def forbidden(web: Web, address: str) -> bool:
    """Return whether robots.txt forbids an address. The robots.txt of made webs list plain prefixes."""
    host = host_of(address)
    path = address.removeprefix(f"http://{host}")
    return any(path.startswith(prefix) for prefix in web.disallowed.get(host, ()))
