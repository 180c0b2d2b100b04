"""Carry the politeness that all processes on a database share: leases of hosts without their URLs, and robots.txt.

Guests (`fetch.guests`) have no URL in the queue, and neither has a request for a robots.txt that another host redirects
to. Otherwise such a lease is like any other: it has an owner and an end, the fencing number of a later lease
invalidates it, and the lease of a killed process ends at once. Who has no catalogue uses a database in memory.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, replace

from sqlalchemy import BindParameter, Float, bindparam, delete, func, select, update

from geocrawl.errors import GivenBack
from geocrawl.model import HostState, IpPlace, IpRequest, IpSlot, Lease, RobotsRecord, find_place
from geocrawl.model.health import DAY_S
from geocrawl.ports import HostBusy, HostLease
from geocrawl.settings import Settings
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.life import Owner
from geocrawl.store.database.runner import awaited
from geocrawl.store.database.schema.tables import HOST, IP_PLACE, ROBOTS
from geocrawl.store.frontier.hosts import add_host, politeness
from geocrawl.store.frontier.lease import lease_of_s
from geocrawl.store.frontier.statements import LEASE, POLITENESS

_Row = tuple[int, float, int, float, float | None, int, int, float, str, int, float, int, str]
"""A row of `_FIND`."""
_FIND = select(
    *(HOST.c.id, *(HOST.c[name] for name in POLITENESS[:-1])),
    *(HOST.c.lease_until, HOST.c.lease_token, func.coalesce(HOST.c.lease_owner, "")),
).where(HOST.c.name == bindparam("host"))
_LEASED = update(HOST).where(HOST.c.name == bindparam("host"), HOST.c.lease_token == bindparam("token"))
"""Write columns of a leased host, unless another process leased the host since."""
_LEASED_FOR_URL = _LEASED.where(HOST.c.lease_url == bindparam("url"))
"""Write columns of a host that is leased for a URL; nothing when others took the process for dead."""
_SLOTS = select(IP_PLACE.c.slot, IP_PLACE.c.begins_at, IP_PLACE.c.until, IP_PLACE.c.owner).where(
    IP_PLACE.c.ip == bindparam("ip")
)
_ENTER_IP = upsert(IP_PLACE, "ip", "slot")
_LEAVE_IP = (
    update(IP_PLACE)
    .values(until=0)
    .where(*(IP_PLACE.c[name] == bindparam(name) for name in ("ip", "slot", "begins_at", "owner")))
)
"""Free a slot; when its last request began still counts."""
_FORGET_PLACES = delete(IP_PLACE).where(
    (IP_PLACE.c.begins_at < bindparam("first")) | (IP_PLACE.c.begins_at > bindparam("last"))
)
"""Drop slots whose last request began long ago, or, by a wrong clock, far ahead."""
_FORGOTTEN_S = 3600.0
_READ_ROBOTS = select(*ROBOTS.c).where(ROBOTS.c.origin == bindparam("origin"))
_WRITE_ROBOTS = upsert(ROBOTS, "origin")
_KEPT_S = 30 * DAY_S
"""Time for which the store keeps, after an answer for robots.txt expired, what it said and since when robots.txt has
been unreachable; both may count for so long (`fetch.robots.UNREACHABLE_S`)."""
_BEFORE: BindParameter[float] = bindparam("before", type_=Float)
EXPIRED_ROBOTS = select(ROBOTS.c.origin).where(ROBOTS.c.expires_at < _BEFORE - _KEPT_S).limit(bindparam("most"))
"""Origins whose answers expired so long before :before that they tell nothing any more, at most :most."""
_DROP_ROBOTS = delete(ROBOTS).where(ROBOTS.c.origin == bindparam("old"), ROBOTS.c.expires_at < _BEFORE)
_TIDIED_EVERY, _MOST_DROPPED = 256, 1_024
"""Places of the past and expired answers are deleted once in so many that are written; so many answers at once. In a
crawl without a daemon nothing else deletes them."""


class SqlHeldHost:
    """A leased host (`ports.HeldHost`, `ports.HostLease`): its name and the fencing number of the lease."""

    def __init__(
        self, database: Database, settings: Settings, lease: Lease | HostState, token: int, until: float
    ) -> None:
        """`lease`: the lease of a URL, or the state of a host that was leased for none."""
        self._database = database
        self._lease_s = settings.lease_s
        self.state = lease.host if isinstance(lease, Lease) else lease
        self._url_id = lease.entry.id if isinstance(lease, Lease) else None
        self._token = token
        self._until = until

    async def extend(self, until: float) -> None:
        """Keep the host until this time at least, also if the lease expired and nobody has leased the host since.

        Raises GivenBack when another process has."""
        if until <= self._until:
            return
        self._until = max(until, self._database.clock.now() + self._lease_s)
        await self._extend(self._until)

    @awaited
    def _extend(self, until: float) -> None:
        statement, values = _LEASED, {"host": self.state.name, "token": self._token, "lease_until": until}
        if self._url_id is not None:
            statement, values = _LEASED_FOR_URL, {**values, "url": self._url_id}
        with self._database.shared_transaction:
            done = self._database.connection.execute(statement, values).rowcount
        if not done:
            raise GivenBack(f"{self.state.name}: another process has leased this host meanwhile")

    @awaited
    def release(self, state: HostState, now: float) -> None:
        """End the lease and write the host's politeness."""
        values = {"host": self.state.name, "token": self._token, "lease_until": 0}
        with self._database.transaction:
            self._database.connection.execute(_LEASED, values | politeness(state, now))


class SqlPoliteness:
    """`ports.Politeness` of a database."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._connection = database.connection
        self._settings = settings
        self._life = database.life
        self._robots_written = self._places_taken = 0
        self._looks_first = False
        """Whether the last address was busy: then a look costs less than a write lock in vain."""

    async def covers(self, host: str) -> bool:
        """Return whether a host opted out."""
        blocked = self._database.blocked
        return blocked.covers(host) if blocked.is_known else await self._database.runner.run(blocked.covers, host)

    @awaited
    def lease(self, name: str, now: float, *, wait_s: float) -> HostLease | HostBusy:
        """Lease a host, unless another lease is in force or the host's next request is more than `wait_s` away."""
        if not_now := self._why_not(self._find(name), now, wait_s):  # before the write lock: a busy host needs none
            return not_now
        self._life.begin()
        with self._database.transaction:
            found = self._find(name)
            if not_now := self._why_not(found, now, wait_s):
                return not_now
            if found is None:
                add_host(self._connection, name)
                found = self._find(name)
                assert found is not None, "it was made just now"
            host_id, next_at, _, _, crawl_delay_s, *_, until, token, _ = found
            if until > now and (pace_s := self._settings.pace_s(name, crawl_delay_s)):
                next_at = max(next_at, now + self._settings.at_work_s + pace_s)  # its process was killed
            state = replace(_state(name, found), next_at=next_at)
            lease_until = max(now, next_at) + lease_of_s(state, self._settings)
            leased = {"host": host_id, "until": lease_until, "url": None, "owner": self._life.owner}
            self._connection.execute(LEASE, leased)
        return SqlHeldHost(self._database, self._settings, state, token + 1, lease_until)

    @awaited
    def enter_ip(self, ip: str, now: float, request: IpRequest) -> IpPlace | float:
        """Take one of the places of an IP address, or return when to ask again."""
        if self._looks_first and not self._database.postponed:
            found = find_place(ip, self._slots(ip), now, request)
            if not isinstance(found, IpPlace):
                return found
        self._life.begin()
        with self._database.transaction:
            found = find_place(ip, self._slots(ip), now, request)
            self._looks_first = not isinstance(found, IpPlace)
            if isinstance(found, IpPlace):
                if self._places_taken % _TIDIED_EVERY == 0:
                    self._connection.execute(_FORGET_PLACES, {"first": now - _FORGOTTEN_S, "last": now + _FORGOTTEN_S})
                self._places_taken += 1
                row = {"ip": ip, "slot": found.slot, "begins_at": found.counts_from, "owner": self._life.owner}
                self._connection.execute(_ENTER_IP, {**row, "until": found.counts_from + request.lasts_s})
        return found

    async def leave_ip(self, place: IpPlace, now: float) -> None:
        """Give a place back with the next transaction, unless another process has taken it after it expired."""
        row = {"ip": place.ip, "slot": place.slot, "begins_at": place.counts_from, "owner": self._life.owner}
        self._database.postponed.append((_LEAVE_IP, row))

    def _slots(self, ip: str) -> list[IpSlot]:
        """Return the slots of an address; those of killed processes are free."""
        rows = self._connection.execute(_SLOTS, {"ip": ip}).fetchall()
        return [
            IpSlot(number, begins_at, 0.0 if until and self._life.has_ended(owner, self._connection) else until)
            for number, begins_at, until, owner in rows
        ]

    def _find(self, name: str) -> _Row | None:
        row: _Row | None = self._connection.execute(_FIND, {"host": name}).fetchone()
        return row

    def _why_not(self, row: _Row | None, now: float, wait_s: float) -> HostBusy | None:
        if row is None:
            return None
        next_at, lease_until, holder = row[1], row[10], row[12]
        if lease_until > now and not self._life.has_ended(holder, self._connection):
            return HostBusy(lease_until, str(Owner.read(holder)))
        return HostBusy(next_at, "") if next_at - now > wait_s else None

    # ----------------------------------------------------------------------- robots.txt

    @awaited
    def read_robots(self, origin: str) -> RobotsRecord | None:
        """Return the last answer, expired or not; None when the origin was never asked."""
        row = self._connection.execute(_READ_ROBOTS, {"origin": origin}).fetchone()
        if row is None:
            return None
        origin, status, body, fetched_at, expires_at = row
        text = zlib.decompress(body).decode("utf-8", "surrogatepass") if isinstance(body, bytes) else body
        return RobotsRecord(origin, status, text, fetched_at, expires_at)

    @awaited
    def write_robots(self, record: RobotsRecord) -> None:
        """Write an answer in the place of the last one."""
        # Compressed: 500 KiB of one rule again and again would fill the database.
        body = None if record.body is None else zlib.compress(record.body.encode("utf-8", "surrogatepass"))
        with self._database.shared_transaction:
            self._connection.execute(_WRITE_ROBOTS, asdict(replace(record, body=None)) | {"body": body})
        if self._robots_written % _TIDIED_EVERY == 0:
            self._drop_expired_robots(record.fetched_at)
        self._robots_written += 1

    def _drop_expired_robots(self, now: float) -> None:
        with self._database.transaction:
            expired = self._connection.execute(EXPIRED_ROBOTS, {"before": now, "most": _MOST_DROPPED}).fetchall()
            self._connection.executemany(_DROP_ROBOTS, [{"old": origin, "before": now} for (origin,) in expired])


def _state(name: str, row: _Row) -> HostState:
    return HostState(name, *row[1:10])
