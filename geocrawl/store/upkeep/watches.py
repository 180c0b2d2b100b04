"""Keep watches: compare the catalogue with what each watch knew, and keep notices until they are delivered.

A look writes notices and what the watch knows now in one transaction, so that each change is reported once, also after
a kill. A process that delivers reserves the watch for a while, so that two do not deliver the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, case, delete, func, insert, literal_column, select, update

from geocrawl.errors import NothingFound, UsageError
from geocrawl.model.health import DAY_S
from geocrawl.model.watches import MOST_FAILURES, Delivery, Notice, Watch, What
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import CHANGE, ENDPOINT, HEALTH_EVENT, NOTICE, SERVICE, SERVICE_ALIAS, WATCH
from geocrawl.store.database.views import V_SERVICES
from geocrawl.store.upkeep.watch_paces import HostLoads, set_paces

Numbers = Callable[[str], Collection[int]]
"""Returns the numbers of the services that a query finds; raises UsageError for one that cannot be read."""

QUIET_AFTER, QUIET_S = 4, 7 * DAY_S
"""So many deaths, returns and changes of speed of one service within this time are reported; further ones are not."""
_FIRST_RETRY_S, LONGEST_RETRY_S = 60.0, DAY_S
RESERVED_S = 300.0
_MOST_NOTICES = 500
"""Most notices of one message; the others follow in the next one."""
_MOST_NEW = 500
"""Most new services of one look that have a notice each; the last one counts the others."""
_MOST_LAYERS = 20
_KEPT_S = 30 * DAY_S
_ERROR_CHARS = 300

_WAITS = (NOTICE.c.watch_id == WATCH.c.id, NOTICE.c.sent_at.is_(None))
_WATCHES = select(
    *(WATCH.c[name] for name in ("id", "service_id", "query", "recipient", "secret", "created_at", "known", "sent_at")),
    select(func.count()).select_from(NOTICE).where(*_WAITS).scalar_subquery().label("unsent"),
    *(WATCH.c[name] for name in ("failures", "retry_at", "last_error", "every_s")),
).order_by(WATCH.c.id)
_ONE_WATCH = _WATCHES.where(WATCH.c.id == bindparam("watch"))
_SAME = select(WATCH.c.id).where(
    WATCH.c.service_id.is_not_distinct_from(bindparam("service")),
    *(WATCH.c.query == bindparam("query"), WATCH.c.recipient == bindparam("recipient")),
)
_OF_ONE = select(WATCH.c.id, WATCH.c.service_id, WATCH.c.known, WATCH.c.change_id).where(
    WATCH.c.service_id.is_not(None)
)
_CHANGED = (
    select(CHANGE.c.service_id, func.max(CHANGE.c.id))
    .where(CHANGE.c.id > bindparam("after"))
    .group_by(CHANGE.c.service_id)
)
_KNOWN = select(WATCH.c.known, WATCH.c.change_id).where(WATCH.c.id == bindparam("watch"))
_DEAD = (
    select(ENDPOINT.c.service_id, func.min(case((ENDPOINT.c.health.in_(("down", "gone")), 1), else_=0)))
    .where(in_list(ENDPOINT.c.service_id, "ids"))
    .group_by(ENDPOINT.c.service_id)
)
_REMOVED = (
    select(CHANGE.c.service_id, CHANGE.c.name)
    .where(CHANGE.c.id > bindparam("after"), CHANGE.c.id <= bindparam("highest"))
    .where(CHANGE.c.what == "layer-removed", in_list(CHANGE.c.service_id, "ids"))
    .order_by(CHANGE.c.service_id, CHANGE.c.id)
)
_MOVES = (
    select(CHANGE.c.service_id, CHANGE.c.after)
    .where(CHANGE.c.id > bindparam("after"), CHANGE.c.id <= bindparam("highest"))
    .where(CHANGE.c.what == "moved", in_list(CHANGE.c.service_id, "ids"))
    .order_by(CHANGE.c.id)
)
_SPEEDS = (
    select(CHANGE.c.service_id, CHANGE.c.what)
    .where(CHANGE.c.id > bindparam("after"), CHANGE.c.id <= bindparam("highest"))
    .where(CHANGE.c.what.in_((What.SLOW, What.USUAL)), in_list(CHANGE.c.service_id, "ids"))
    .order_by(CHANGE.c.id)
)
_FORMER = select(SERVICE_ALIAS.c.old, SERVICE_ALIAS.c.new).where(in_list(SERVICE_ALIAS.c.old, "ids"))
_HIGHEST_CHANGE = select(func.coalesce(func.max(CHANGE.c.id), 0))
_NEWEST = select(
    _HIGHEST_CHANGE.scalar_subquery(), select(func.coalesce(func.max(HEALTH_EVENT.c.id), 0)).scalar_subquery()
)
_service = V_SERVICES.c
_UNSENT = (
    select(
        *(NOTICE.c.id, NOTICE.c.at, NOTICE.c.what, NOTICE.c.service_id, NOTICE.c.detail),
        *(func.coalesce(_service[name], "") for name in ("kind", "title", "url")),
    )
    .select_from(NOTICE.outerjoin(V_SERVICES, _service.id == NOTICE.c.service_id))
    .where(NOTICE.c.watch_id == bindparam("watch"), NOTICE.c.sent_at.is_(None))
    .order_by(NOTICE.c.id)
    .limit(_MOST_NOTICES)
)
_RESTLESS_WHAT = (What.DIED, What.RETURNED, What.SLOW, What.USUAL)
_RESTLESS = (
    select(NOTICE.c.service_id, func.count())
    .where(NOTICE.c.watch_id == bindparam("watch"), NOTICE.c.what.in_(_RESTLESS_WHAT))
    .where(NOTICE.c.at > bindparam("since"))
    .group_by(NOTICE.c.service_id)
)
_IS_SERVICE = select(SERVICE.c.id).where(SERVICE.c.id == bindparam("service"))
_ADD_WATCH = insert(WATCH).returning(WATCH.c.id)
_ADD_NOTICE = insert(NOTICE)
_CHANGE_WATCH = update(WATCH).where(WATCH.c.id == bindparam("watch"))
_RESERVE = _CHANGE_WATCH.where(WATCH.c.busy_until <= bindparam("now")).values(busy_until=bindparam("until"))
_NOTE_LOOK = _CHANGE_WATCH.values(known=bindparam("now_known"), change_id=bindparam("highest"))
_NOTE_QUIET = (
    update(WATCH)
    .where(in_list(WATCH.c.id, "watches"), WATCH.c.change_id < bindparam("highest"))
    .values(change_id=bindparam("highest"))
)
_NOTE_INTERVAL = _CHANGE_WATCH.values(every_s=bindparam("every"))
_NOTE_ERROR = _CHANGE_WATCH.values(last_error=bindparam("error"))
_NOTE_FAILURE = _CHANGE_WATCH.values(failures=WATCH.c.failures + 1, retry_at=bindparam("again_at"), busy_until=0)
_NOTE_DELIVERY = _CHANGE_WATCH.values(
    sent_at=bindparam("at"), failures=0, retry_at=0, busy_until=0, last_error=literal_column("''")
)
_NOTE_SENT = update(NOTICE).where(in_list(NOTICE.c.id, "notices")).values(sent_at=bindparam("at"))
_DROP_OLD = delete(NOTICE).where(NOTICE.c.sent_at < bindparam("before"))
_DROP_NOTICES = delete(NOTICE).where(NOTICE.c.watch_id == bindparam("watch"))
_DROP_WATCH = delete(WATCH).where(WATCH.c.id == bindparam("watch"))


@dataclass(frozen=True, slots=True)
class _Difference:
    """A difference that a look found."""

    what: What
    service_id: int
    layers: tuple[str, ...] = ()
    more_services: int = 0
    moved_to: str = ""


class Watches:
    """The watches of one catalogue."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection = database.connection

    def all(self) -> list[Watch]:
        """Return every watch, the oldest first."""
        return [_watch(row) for row in self._connection.execute(_WATCHES).dicts()]

    def there(self, subject: int | str, recipient: str) -> Watch | None:
        """Return the watch on a service or a saved search that tells a recipient; None for no such watch."""
        of = (subject, "") if isinstance(subject, int) else (None, subject)
        values = {"service": of[0], "query": of[1], "recipient": recipient}
        row = self._connection.execute(_SAME, values).fetchone()
        return None if row is None else self._one(row[0])

    def set_interval(self, watch: Watch, every_s: float, numbers: Numbers, at: float, settings: Settings) -> Watch:
        """Change the time between two probes of what is watched, and return the watch. Raises UsageError for an
        interval that hosts cannot bear."""
        ids = numbers(watch.query) if watch.service_id is None else _existing(self._connection, watch.service_id)
        HostLoads(self._connection, settings).accept(ids, every_s)
        with self._database.transaction:
            self._connection.execute(_NOTE_INTERVAL, {"watch": watch.id, "every": every_s})
            set_paces(self._connection, settings, at)
        return self._one(watch.id)

    def _one(self, number: int) -> Watch:
        return _watch(next(self._connection.execute(_ONE_WATCH, {"watch": number}).dicts()))

    def add(
        self,
        subject: int | str,
        recipient: str,
        secret: str,
        numbers: Numbers,
        at: float,
        *,
        every_s: float | None = None,
        settings: Settings | None = None,
        loads: HostLoads | None = None,
    ) -> Watch:
        """Store a watch on a service (its number) or a saved search (its text); return it.

        Only what happens from now on is reported. `every_s`: the time between two probes, which `settings` bound.
        `loads`: given by a caller that adds many watches and sets the paces in the end (`set_paces`).
        Raises UsageError for a watch that is there already, for a query that cannot be read and for an interval that
        hosts cannot bear, NothingFound for an unknown service.
        """
        ids: Collection[int]
        if isinstance(subject, int):
            ids = (service_id,) = _existing(self._connection, subject)
            query = ""
        else:
            ids, service_id, query = numbers(subject), None, subject
        if (there := self.there(subject, recipient)) is not None:
            raise UsageError(f"watch {there.id} tells {recipient or 'nobody'} of that already")
        if every_s is not None and settings is not None:
            (loads or HostLoads(self._connection, settings)).accept(ids, every_s)
        with self._database.transaction:
            row: dict[str, object] = {
                "service_id": service_id,
                "query": query,
                "recipient": recipient,
                "secret": secret,
                "every_s": every_s,
            }
            known = json.dumps(_dead(self._connection, ids))
            highest = self._connection.execute(_HIGHEST_CHANGE).fetchone()[0]
            row |= {"created_at": at, "known": known, "change_id": highest}
            number = self._connection.execute(_ADD_WATCH, row).fetchone()[0]
            if settings is not None and loads is None:
                set_paces(self._connection, settings, at)
        return self._one(number)

    def remove(self, number: int) -> bool:
        """Delete a watch with its notices; return whether there was one."""
        with self._database.transaction:
            self._connection.execute(_DROP_NOTICES, {"watch": number})
            return self._connection.execute(_DROP_WATCH, {"watch": number}).rowcount > 0

    def set_paces(self, settings: Settings, at: float) -> int:
        """Give what is watched the interval that its watches and the settings of its site ask for."""
        with self._database.transaction:
            return set_paces(self._connection, settings, at)

    # ----------------------------------------------------------------------- looking

    def newest(self) -> tuple[int, int]:
        """Return the numbers of the newest change of content and of health: while both stay, a look finds nothing."""
        content, health = self._connection.execute(_NEWEST).fetchone()
        return content, health

    def look(self, numbers: Numbers, at: float) -> int:
        """Compare the catalogue with what each watch knows, and write a notice of each difference; return how many."""
        written = 0
        with self._database.transaction:
            quiet = self._quiet()
        for watch in self.all():
            if watch.id in quiet:
                continue
            try:
                found = None if watch.service_id is not None else frozenset(numbers(watch.query))
            except UsageError as error:
                self._note_error(watch.id, str(error))
                continue
            with self._database.transaction:
                written += self._look_at(watch, found, at)
        with self._database.transaction:
            self._connection.execute(_DROP_OLD, {"before": at - _KEPT_S})
        return written

    def _quiet(self) -> set[int]:
        """Return the watches on one service that have nothing to tell, by a few statements for all; the newest change
        is noted in them."""
        rows = self._connection.execute(_OF_ONE).fetchall()
        if not rows:
            return set()
        highest = self._connection.execute(_HIGHEST_CHANGE).fetchone()[0]
        changed = dict(self._connection.execute(_CHANGED, {"after": min(row[3] for row in rows)}).fetchall())
        services = {service for _, service, _, _ in rows}
        former = dict(self._connection.execute(_FORMER, {"ids": services}).fetchall())
        now = _dead(self._connection, services)
        quiet = {
            number
            for number, service, known, seen in rows
            if service in now and service not in former and changed.get(service, 0) <= seen
            if {service: now[service]} == {int(name): bool(dead) for name, dead in json.loads(known).items()}
        }
        self._connection.execute(_NOTE_QUIET, {"watches": quiet, "highest": highest})
        return quiet

    def _look_at(self, watch: Watch, found: frozenset[int] | None, at: float) -> int:
        """Write the notices of one watch. `found`: what its search finds now; None: it watches one service."""
        row = self._connection.execute(_KNOWN, {"watch": watch.id}).fetchone()
        if row is None:  # removed meanwhile
            return 0
        then = {int(number): bool(dead) for number, dead in json.loads(row[0]).items()}
        subject = watch.service_id
        asked = [*then] if subject is None else [*then, subject]
        former = dict(self._connection.execute(_FORMER, {"ids": asked}).fetchall())
        known = {number: dead for number, dead in then.items() if number not in former}
        for number, dead in then.items():  # services that became one with another since
            known.setdefault(former.get(number, number), dead)
        if subject is not None:  # which may be a service of its own again
            known = {former.get(subject, subject): dead for dead in then.values()}
        now = _dead(self._connection, known.keys() | (found or frozenset()))
        highest = self._connection.execute(_HIGHEST_CHANGE).fetchone()[0]
        since = {"after": row[1], "highest": highest}
        differences = [
            *_moves(self._connection, {**{number: number for number in known}, **former}, since),
            *_compared(known, now),
            *_speeds(self._connection, known, since),
            *_removed_layers(self._connection, known, since),
        ]
        quiet = _Quiet(self._connection, watch.id, at)
        rows = [
            {
                "watch_id": watch.id,
                "at": at,
                "what": difference.what,
                "service_id": difference.service_id,
                "detail": detail,
                "sent_at": None if watch.recipient else at,
            }
            for difference in differences
            if (detail := quiet.detail(difference))
        ]
        self._connection.executemany(_ADD_NOTICE, rows)
        self._connection.execute(_NOTE_LOOK, {"watch": watch.id, "now_known": json.dumps(now), "highest": highest})
        return len(rows)

    # ----------------------------------------------------------------------- delivering

    def due(self, at: float, *, again: bool = False) -> list[Delivery]:
        """Reserve and return what is to be delivered now. `again`: also where earlier failures ask for a pause."""
        deliveries = []
        for watch in self.all():
            if watch.unsent and (again or watch.retry_at <= at) and self._reserve(watch.id, at):
                rows = self._connection.execute(_UNSENT, {"watch": watch.id}).fetchall()
                deliveries.append(Delivery(watch, tuple(map(_notice, rows))))
        return deliveries

    def delivered(self, delivery: Delivery, at: float) -> None:
        """Write that a message arrived: its notices are not sent again."""
        with self._database.transaction:
            sent = {"notices": [notice.id for notice in delivery.notices], "at": at}
            self._connection.execute(_NOTE_SENT, sent)
            self._connection.execute(_NOTE_DELIVERY, {"watch": delivery.watch.id, "at": at})

    def failed(self, delivery: Delivery, error: str, at: float) -> None:
        """Write that a message did not arrive: it is sent again after a pause that doubles, up to a day."""
        pause = min(_FIRST_RETRY_S * 2.0 ** min(delivery.watch.failures, MOST_FAILURES + 1), LONGEST_RETRY_S)
        with self._database.transaction:
            self._connection.execute(_NOTE_FAILURE, {"watch": delivery.watch.id, "again_at": at + pause})
        self._note_error(delivery.watch.id, error)

    def _reserve(self, number: int, at: float) -> bool:
        """Return whether this process may deliver a watch's notices now; no other one does meanwhile."""
        with self._database.transaction:
            values = {"watch": number, "until": at + RESERVED_S, "now": at}
            return self._connection.execute(_RESERVE, values).rowcount > 0

    def _note_error(self, number: int, error: str) -> None:
        with self._database.transaction:
            self._connection.execute(_NOTE_ERROR, {"watch": number, "error": error[:_ERROR_CHARS]})


class _Quiet:
    """Decides which differences are reported: of a service that dies and returns again and again, the first ones."""

    def __init__(self, connection: Connection, watch: int, at: float) -> None:
        self._reported: Mapping[int, int] = dict(
            connection.execute(_RESTLESS, {"watch": watch, "since": at - QUIET_S}).fetchall()
        )

    def detail(self, found: _Difference) -> str:
        """Return the detail of a notice as JSON, '' for a difference that is not reported."""
        detail: dict[str, object] = {}
        if found.what in _RESTLESS_WHAT:
            reported = self._reported.get(found.service_id, 0)
            if reported >= QUIET_AFTER:
                return ""
            detail["is_last"] = reported + 1 == QUIET_AFTER
        if found.more_services:
            detail["more_services"] = found.more_services
        if found.moved_to:
            detail["moved_to"] = found.moved_to
        if found.layers:
            detail["layers"] = found.layers[:_MOST_LAYERS]
            detail["more_layers"] = max(0, len(found.layers) - _MOST_LAYERS)
        return json.dumps(detail, ensure_ascii=False)


def _watch(row: dict[str, Any]) -> Watch:
    return Watch(services=len(json.loads(row.pop("known"))), **row)


def _existing(connection: Connection, number: int) -> tuple[int]:
    if connection.execute(_IS_SERVICE, {"service": number}).fetchone() is None:
        raise NothingFound(f"the catalogue has no service {number}; `geocrawl search` prints numbers")
    return (number,)


def _dead(connection: Connection, ids: Iterable[int]) -> dict[int, bool]:
    """Return which of these services are dead, by number; those that are no longer there are left out."""
    rows = connection.execute(_DEAD, {"ids": sorted(ids)})
    return {number: bool(dead) for number, dead in rows}


def _compared(known: Mapping[int, bool], now: Mapping[int, bool]) -> Iterator[_Difference]:
    new = [number for number in now if number not in known]
    for place, number in enumerate(new[:_MOST_NEW], 1):
        yield _Difference(What.NEW, number, more_services=len(new) - place if place == _MOST_NEW else 0)
    for number, dead in now.items():
        if number in known and dead is not known[number]:
            yield _Difference(What.DIED if dead else What.RETURNED, number)


def _moves(connection: Connection, current: Mapping[int, int], since: Mapping[str, int]) -> Iterator[_Difference]:
    """Yield the last move of each service. `current`: numbers then → numbers now."""
    found = connection.execute(_MOVES, {**since, "ids": list(current)})
    moves = {current[number]: address for number, address in found}
    for number, address in moves.items():
        yield _Difference(What.MOVED, number, moved_to=address)


def _speeds(connection: Connection, known: Iterable[int], since: Mapping[str, int]) -> Iterator[_Difference]:
    """Yield the last change of speed of each service."""
    for number, what in dict(connection.execute(_SPEEDS, {**since, "ids": list(known)}).fetchall()).items():
        yield _Difference(What(what), number)


def _removed_layers(
    connection: Connection, known: Mapping[int, bool], since: Mapping[str, int]
) -> Iterator[_Difference]:
    values: dict[str, Any] = {**since, "ids": list(known)}
    removed: dict[int, list[str]] = {}
    for number, name in connection.execute(_REMOVED, values):
        removed.setdefault(number, []).append(name)
    for number, names in removed.items():
        yield _Difference(What.LAYERS_REMOVED, number, tuple(names))


def _notice(row: tuple[Any, ...]) -> Notice:
    number, at, what, service_id, detail, kind, title, url = row
    more = json.loads(detail)
    return Notice(
        *(number, at, What(what), service_id, kind, title, url),
        tuple(more.get("layers", ())),
        more.get("more_layers", 0),
        more.get("more_services", 0),
        more.get("moved_to", ""),
        more.get("is_last", False),
    )
