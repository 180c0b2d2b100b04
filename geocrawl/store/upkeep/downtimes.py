"""Plan and remove downtimes, and acknowledge the failures of a service."""

from __future__ import annotations

from sqlalchemy import bindparam, case, delete, func, insert, select

from geocrawl.errors import NothingFound, UsageError
from geocrawl.model.downtimes import Downtime
from geocrawl.store.catalogue.downtimes import downtime_of
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import DOWNTIME, ENDPOINT, NOTICE

_HAS_HOST = select(ENDPOINT.c.id).where(ENDPOINT.c.host == bindparam("host")).limit(1)
_OF_SERVICE = select(func.count(), func.count(case((ENDPOINT.c.health == "alive", 1)))).where(
    ENDPOINT.c.service_id == bindparam("service")
)
_ADD = insert(DOWNTIME).returning(DOWNTIME.c.id)
_REMOVE = delete(DOWNTIME).where(DOWNTIME.c.id == bindparam("downtime"))
_DROP_NOTICES = delete(NOTICE).where(
    NOTICE.c.service_id == bindparam("service"), NOTICE.c.what == "died", NOTICE.c.sent_at.is_(None)
)


class Downtimes:
    """The downtimes of one catalogue."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection

    def plan(
        self,
        subject: int | str,
        *,
        starts_at: float,
        ends_at: float | None,
        weekly: str = "",
        zone: str = "UTC",
        note: str = "",
        at: float,
    ) -> Downtime:
        """Plan a downtime of a service (its number) or of a host (its name), once or weekly; return it.

        Raises NothingFound for a service or a host that the catalogue does not have, UsageError for a time without
        length."""
        is_service = isinstance(subject, int)
        if is_service:
            self._counts(int(subject))
        elif self._connection.execute(_HAS_HOST, {"host": subject}).fetchone() is None:
            raise NothingFound(f"{subject}: the catalogue has no service of this host")
        if ends_at is not None and ends_at <= starts_at:
            raise UsageError("--to: expected a time after --from")
        times = {"starts_at": starts_at, "ends_at": ends_at, "weekly": weekly, "zone": zone}
        of = {"service_id": subject if is_service else None, "host": "" if is_service else subject}
        return self._add({**of, **times, "is_acknowledged": 0, "note": note, "created_at": at})

    def acknowledge(self, service: int, at: float, note: str = "") -> Downtime:
        """Acknowledge the failures of a service until it is well again, and return the acknowledgement. Notices of its
        death that wait are dropped.

        Raises NothingFound for an unknown service, UsageError for one that is well."""
        endpoints, alive = self._counts(service)
        if endpoints == alive:
            raise UsageError(f"service {service} is well; `geocrawl watch downtime` plans what is to come")
        times = {"starts_at": at, "ends_at": None, "weekly": "", "zone": "UTC"}
        of = {"service_id": service, "host": "", "is_acknowledged": 1, "note": note, "created_at": at}
        with self._database.transaction:
            self._connection.execute(_DROP_NOTICES, {"service": service})
        return self._add({**of, **times})

    def remove(self, number: int) -> bool:
        """Delete a downtime; return whether there was one. What failed in it stays excused."""
        with self._database.transaction:
            return self._connection.execute(_REMOVE, {"downtime": number}).rowcount > 0

    def _counts(self, service: int) -> tuple[int, int]:
        """Return the number of endpoints of a service, and of those that are alive."""
        endpoints, alive = self._connection.execute(_OF_SERVICE, {"service": service}).fetchone()
        if not endpoints:
            raise NothingFound(f"the catalogue has no service {service}; `geocrawl search` prints numbers")
        return endpoints, alive

    def _add(self, row: dict[str, object]) -> Downtime:
        with self._database.transaction:
            number = self._connection.execute(_ADD, row).fetchone()[0]
        return downtime_of({"id": number, **row})
