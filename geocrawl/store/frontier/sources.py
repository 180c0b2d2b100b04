"""Count the records of other people's catalogues against the total that these state, page by page.

A page belongs to the list that named it as its next page, else to the list at its address without position. A record is
counted once, however many slices of a source hold it. All is written in the settlement's transaction, so that a killed
harvest goes on where it was. A harvest begins a source again; a crawl only adds to what was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, case, delete, func, insert, or_, select, update

from geocrawl.model import HARVEST_TIER, Link, Portion, Purpose, RankedLink, SourceState, State, Url, Visit
from geocrawl.sanitize import masked
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.keys import group_key, page_key, stored_url
from geocrawl.store.database.schema.tables import SOURCE, SOURCE_LIST, SOURCE_RECORD, SOURCE_SERVICE
from geocrawl.urls import RECORDS, list_url, records_page, records_start
from geocrawl.urls.slices import is_control

ENDED, REPEATS, WINDOW, CUT = "ended", "repeats", "window", "cut"
"""Reasons why a list ends before its total: it names no next page, repeats a page, is a slice to be cut, or was cut."""
_LIST = SOURCE_LIST.c
_FIND = (
    select(
        *(_LIST.id, _LIST.source_id, _LIST.next_key, _LIST.digest, _LIST.slice),
        *(SOURCE.c.harvest, SOURCE.c.window),
    )
    .join_from(SOURCE_LIST, SOURCE, SOURCE.c.id == _LIST.source_id)
    .where(or_(_LIST.next_key == bindparam("page"), _LIST.key == bindparam("list")))
    .order_by(case((_LIST.next_key == bindparam("page"), 0), else_=1), _LIST.id)
    .limit(1)
)
_ADD_SOURCE = insert(SOURCE).returning(SOURCE.c.id)
_ADD_LIST = insert(SOURCE_LIST).returning(_LIST.id)
_ADD_RECORD = insert(SOURCE_RECORD)
_OF_SOURCE = _LIST.source_id == bindparam("source")
_WRITE_SOURCE = update(SOURCE).where(SOURCE.c.id == bindparam("source"))
_WRITE_LIST = update(SOURCE_LIST).where(_LIST.id == bindparam("list"))
_ADD_READ = _WRITE_LIST.values(read=_LIST.read + bindparam("more"))
_ADD_DISTINCT = _WRITE_SOURCE.values(
    read=SOURCE.c.read + bindparam("more"), named=SOURCE.c.named + bindparam("more_named")
)
_KNOWN_RECORDS = select(SOURCE_RECORD.c.key).where(
    SOURCE_RECORD.c.source_id == bindparam("source"), in_list(SOURCE_RECORD.c.key, "keys")
)
_DROP_RECORDS = delete(SOURCE_RECORD).where(SOURCE_RECORD.c.source_id == bindparam("source"))
_DROP_SERVICES = delete(SOURCE_SERVICE).where(SOURCE_SERVICE.c.source_id == bindparam("source"))
_KNOWN_SERVICES = select(SOURCE_SERVICE.c.endpoint_id).where(
    SOURCE_SERVICE.c.source_id == bindparam("source"), in_list(SOURCE_SERVICE.c.endpoint_id, "endpoints")
)
_ADD_SERVICE = insert(SOURCE_SERVICE)
_DROP_SLICES = delete(SOURCE_LIST).where(_OF_SOURCE, _LIST.slice != "")
_OPEN = select(func.count(_LIST.next_key), func.max(case((_LIST.slice == "", _LIST.reason)))).where(_OF_SOURCE)
_COUNTS = select(SOURCE.c.stated, SOURCE.c.read, SOURCE.c.named, SOURCE.c.address, SOURCE.c.family).where(
    SOURCE.c.id == bindparam("source")
)
_MOVE = update(SOURCE_LIST).where(_LIST.next_key == bindparam("page")).values(next_key=bindparam("target"))
_SHORT = (
    select(SOURCE.c.id, SOURCE.c.family, SOURCE.c.stated, SOURCE.c.read)
    .where(SOURCE.c.harvest == bindparam("harvest"), SOURCE.c.state == "short", SOURCE.c.stated.is_not(None))
    .order_by(SOURCE.c.id)
)
_LISTS = (
    select(*(_LIST.id, _LIST.slice, _LIST.stated, _LIST.read, _LIST.reason, _LIST.address))
    .where(_OF_SOURCE)
    .order_by(_LIST.id)
)


@dataclass(frozen=True, slots=True)
class Harvest:
    """A harvest, which reads pages again that were read before."""

    number: int = 0
    """Its number in the database, from 1; 0 for a crawl."""
    begun_at: float = 0.0

    def reads_again(self, page: Url, following: Link, settled_at: float) -> bool:
        """Return whether a page that was visited at some time is read again because another one links it: it stands
        behind that one in its list, or was visited before the harvest."""
        start, behind = records_start(page), records_start(following.url)
        if start is not None and behind is not None and list_url(page) == list_url(following.url):
            return behind > start
        return settled_at < self.begun_at


@dataclass(frozen=True, slots=True)
class ListRow:
    """The list that a page belongs to, as it was before the page."""

    id: int
    source_id: int
    next_key: int | None
    digest: int | None
    slice: str
    harvest: int
    window: int | None


@dataclass(frozen=True, slots=True)
class Lists:
    """A source that a harvest has not read whole, with the lists by which it is read."""

    source_id: int
    family: str
    stated: int
    read: int
    first: Url
    """Address of its first page."""
    lists: tuple[tuple[int, str, int | None, int, str], ...]
    """Of the whole list and of each slice: id, slice as text, stated total, records read, reason for ending."""


@dataclass(slots=True)
class SourceWriter:
    """Writes what pages of records say of their lists."""

    connection: Connection
    harvest: Harvest = Harvest()

    def list_of(self, visit: Visit) -> ListRow | None:
        """Return the list that a visit's page belongs to; None for other visits and for a list not yet known."""
        entry = visit.lease.entry
        if entry.purpose is not Purpose.PAGE or not (
            visit.portion or entry.rank.tier == HARVEST_TIER or records_page(entry.url) is not None
        ):
            return None
        keys = {"page": page_key(entry.url.identity), "list": page_key(list_url(entry.url).identity)}
        row = self.connection.execute(_FIND, keys).fetchone()
        return ListRow(*row) if row else None

    def bounded(self, visit: Visit, known: ListRow | None) -> Visit:
        """Return the visit without the next page where the page repeats the one before, or is one of a slice that has
        more records than the source gives."""
        following = _following(visit)
        if known is None or visit.portion is None or following is None:
            return visit
        reason = REPEATS if _repeats(visit, visit.portion, known) else ""
        if known.slice and known.window and (visit.portion.matched or 0) > known.window:
            reason = WINDOW
        if not reason:
            return visit
        links = tuple(each._replace(refused=reason) if each is following else each for each in visit.links)
        return visit._replace(links=links)

    def write(
        self, visit: Visit, known: ListRow | None, endpoints: Mapping[int, bool], *, comes_again: bool
    ) -> SourceState | None:
        """Write what a page says of its list; return how far the list was read, None for any other page.

        `endpoints`: ids of those that the page names, with whether each is new. `comes_again`: a page that failed will
        be tried again."""
        own = page_key(visit.lease.entry.url.identity)
        if is_control(visit.lease.entry.url):
            return None
        if visit.portion is None:
            self._write_without(visit, known, own, comes_again=comes_again)
            return None
        following = _following(visit)
        if following is not None and _is_same_page(visit, following):
            return None  # the same records are requested in another form
        ended = REPEATS if known is not None and _repeats(visit, visit.portion, known) else ENDED
        known = self._begun(visit, visit.portion, known, own)
        next_key = page_key(following.link.url.identity) if following and not following.refused else None
        changed: dict[str, object] = {
            "list": known.id,
            "next_key": next_key,
            "digest": _digest(visit, visit.portion),
            "reason": "" if next_key else (following.refused if following else ended),
        }
        if visit.portion.matched is not None:
            changed["stated"] = visit.portion.matched
        self.connection.execute(_WRITE_LIST, changed)
        self._count(visit, visit.portion, known)
        self._add_services(known.source_id, endpoints)
        is_stated = not known.slice and visit.portion.matched is not None
        stated = {"stated": visit.portion.matched} if is_stated else {}
        return self._write_state(known.source_id, visit.at, stated)

    def _write_without(self, visit: Visit, known: ListRow | None, own: int, *, comes_again: bool) -> None:
        """Write that a page of a list moved, or was not read."""
        if known is None or known.next_key != own or visit.not_modified:
            return
        if visit.state is State.VISITED and visit.reason == "redirect" and visit.links:
            target = page_key(visit.links[0].link.url.identity)
            self.connection.execute(_MOVE, {"page": own, "target": target})
            return
        changed = {"list": known.id, "reason": visit.reason if visit.state is not State.VISITED else ENDED}
        self.connection.execute(_WRITE_LIST, changed | ({} if comes_again else {"next_key": None}))
        self._write_state(known.source_id, visit.at, {})

    def _begun(self, visit: Visit, portion: Portion, known: ListRow | None, own: int) -> ListRow:
        """Return the list of a page, a new one if needed; begin its source again if a harvest begins with the page."""
        if known is None:
            url, at = list_url(visit.lease.entry.url), visit.at
            key, address = page_key(url.identity), url.address
            source = {"key": key, "address": address, "family": portion.family, "state": "reading"}
            begun = {"harvest": self.harvest.number, "at": at}
            (number,) = self.connection.execute(_ADD_SOURCE, source | begun).fetchone()
            row = {"source_id": number, "key": key, "address": visit.lease.entry.url.address}
            (list_id,) = self.connection.execute(_ADD_LIST, row).fetchone()
            return ListRow(list_id, number, None, None, "", self.harvest.number, None)
        is_first = known.next_key != own and not known.slice
        if is_first and known.harvest < self.harvest.number:
            self.connection.execute(_DROP_RECORDS, {"source": known.source_id})
            self.connection.execute(_DROP_SERVICES, {"source": known.source_id})
            self.connection.execute(_DROP_SLICES, {"source": known.source_id})
            self.connection.execute(_WRITE_LIST, {"list": known.id, "read": 0})
            fresh = {"read": 0, "named": 0, "harvest": self.harvest.number, "stated": None, "window": None}
            self.connection.execute(_WRITE_SOURCE, fresh | {"source": known.source_id})
        return known

    def _count(self, visit: Visit, portion: Portion, known: ListRow) -> None:
        """Count the records of a page; one without an identifier by its place."""
        page = visit.lease.entry.url.identity
        names = [each or f"{page} {number}" for number, each in enumerate(portion.ids)]
        numbered = {group_key(f"record {name}"): number for number, name in enumerate(names)}
        keys = list(numbered)
        values = {"source": known.source_id, "keys": keys}
        old = {row[0] for row in self.connection.execute(_KNOWN_RECORDS, values).fetchall()} if keys else set()
        new = [{"source_id": known.source_id, "key": key} for key in keys if key not in old]
        if new:
            self.connection.write_many(_ADD_RECORD, new)
        named = sum(key not in old and number in portion.named for key, number in numbered.items())
        self.connection.execute(_ADD_DISTINCT, {"source": known.source_id, "more": len(new), "more_named": named})
        self.connection.execute(_ADD_READ, {"list": known.id, "more": len(portion.ids)})

    def _add_services(self, source: int, endpoints: Mapping[int, bool]) -> None:
        """Note the endpoints that a page of a source names."""
        if not endpoints:
            return
        values = {"source": source, "endpoints": sorted(endpoints)}
        old = {row[0] for row in self.connection.execute(_KNOWN_SERVICES, values).fetchall()}
        rows = ((number, is_new) for number, is_new in endpoints.items() if number not in old)
        if new := [{"source_id": source, "endpoint_id": number, "is_new": int(is_new)} for number, is_new in rows]:
            self.connection.write_many(_ADD_SERVICE, new)

    def _write_state(self, source: int, at: float, stated: dict[str, int | None]) -> SourceState:
        """Write how far a source was read, and return it."""
        self.connection.execute(_WRITE_SOURCE, {"source": source, "at": at, **stated})
        total, read, named, address, family = self.connection.execute(_COUNTS, {"source": source}).fetchone()
        unread, reason = self.connection.execute(_OPEN, {"source": source}).fetchone()
        is_whole = read >= total if total is not None else reason in ("", ENDED)
        state = "whole" if is_whole else "reading" if unread else "short"
        changed = {"source": source, "state": state, "reason": "" if is_whole else reason or ""}
        self.connection.execute(_WRITE_SOURCE, changed)
        return SourceState(masked(address), family, total, read, named, state, str(changed["reason"]), at)

    # ----------------------------------------------------------------------- slices

    def short(self) -> list[Lists]:
        """Return the sources of this harvest that were read as far as their server lets them, and not whole."""
        rows = self.connection.execute(_SHORT, {"harvest": self.harvest.number}).fetchall()
        found = []
        for number, family, stated, read in rows:
            lists = self.connection.execute(_LISTS, {"source": number}).fetchall()
            first = next(stored_url(row[-1]) for row in lists if not row[1])
            found.append(Lists(number, family, stated, read, first, tuple(row[:-1] for row in lists)))
        return found

    def add_slices(self, source: int, window: int, cut: Sequence[int], slices: Mapping[str, Url]) -> list[Url]:
        """Add slices of a source (text → first page) that replace those of the ids in `cut`; return the first pages of
        the new ones. `window`: most records that the server gives of one list."""
        self.connection.execute(_WRITE_SOURCE, {"source": source, "window": window})
        for number in cut:
            self.connection.execute(_WRITE_LIST, {"list": number, "reason": CUT})
        added = []
        for text, url in slices.items():
            key = page_key(list_url(url).identity)
            if self.connection.execute(_FIND, {"page": key, "list": key}).fetchone() is None:
                row = {"source_id": source, "key": key, "address": url.address, "slice": text}
                self.connection.execute(_ADD_LIST, row | {"next_key": page_key(url.identity)}).fetchone()
                added.append(url)
        return added


def _following(visit: Visit) -> RankedLink | None:
    """Return the link of a page to the next one of its list: the one that says so, else the first at the same path."""
    place = visit.lease.entry.url.address.partition("?")[0]
    pages = [each for each in visit.links if each.link.where == RECORDS]
    named = [each for each in pages if "next" in each.link.rel.lower().split()]
    return next(iter(named or [each for each in pages if each.link.url.address.partition("?")[0] == place]), None)


def _repeats(visit: Visit, portion: Portion, known: ListRow) -> bool:
    """Return whether a page has the records of the one before it; any other than the next one begins its list again."""
    is_next = known.next_key == page_key(visit.lease.entry.url.identity)
    return is_next and known.digest is not None and known.digest == _digest(visit, portion)


def _is_same_page(visit: Visit, following: RankedLink) -> bool:
    """Return whether a link asks for the same records in another form. Pages that tokens name have no position."""
    own, url = visit.lease.entry.url, following.link.url
    start = records_start(own)
    return start is not None and records_start(url) == start and list_url(own).identity == list_url(url).identity


def _digest(visit: Visit, portion: Portion) -> int | None:
    """Return a signed 64-bit hash of the identifiers of a page; where its records have none and no total ends the list,
    of its size and of the services that it names; None for any other page."""
    if text := "\n".join(portion.ids).strip():
        return group_key(f"page {text}")
    if portion.matched is not None or not portion.ids:
        return None
    return group_key(f"page {visit.size_bytes} {sorted(candidate.endpoint.key for candidate, _ in visit.candidates)}")
