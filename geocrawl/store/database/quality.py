"""Score the quality of a service, 0 to 100, by parts that are each read from what is stored of it and of an address.

Parts and score are expressions of SQL, so that a view, an export, a search and a page say the same. A part that is not
known (nobody asked yet) counts neither for nor against a service."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Float, FromClause, case, cast, func, literal, or_

from geocrawl.store.database.constructs import greatest, json_member, whole
from geocrawl.store.database.schema.tables import SERVICE

LONG_ABSTRACT_CHARS = 120


class QualityPart(NamedTuple):
    """Part of the score: one property that makes a service good to use."""

    weight: int
    """Points of the score when it is fulfilled; those of all parts are 100."""
    share: ColumnElement[Any]
    """How far the service has the property, 0 to 1; NULL: not known."""


def quality_parts(endpoint: FromClause) -> Mapping[str, QualityPart]:
    """Return the parts, by name, for a row of `service` joined to the row of an endpoint; all columns may be NULL."""
    of, its = SERVICE.c, endpoint.c
    mail, phone = (func.coalesce(json_member(of.contact, name), "") for name in ("email", "phone"))
    described = (
        of.title != "",
        func.length(of.abstract) >= LONG_ABSTRACT_CHARS,
        of.keywords != "[]",
        of.west.is_not(None),
    )
    code = literal('"code"')
    deviations = (func.length(its.deviations) - func.length(func.replace(its.deviations, code, ""))) / 6.0
    return {
        "proven": QualityPart(
            25, case((its.level == "delivers", 1.0), (its.level == "answers", 0.5), (its.level != "", 0.0))
        ),
        "available": QualityPart(
            25,
            case(
                (its.health == "alive", 1.0),
                (its.health == "degraded", 0.5),
                (its.health == "unconfirmed", 0.25),
                (its.health.in_(("down", "gone")), 0.0),
            ),
        ),
        "described": QualityPart(15, reduce(add, (case((each, 0.25), else_=0.0) for each in described))),
        "contact": QualityPart(
            10,
            case((or_(mail != "", phone != ""), 1.0), (or_(of.contact != "{}", of.provider != ""), 0.5), else_=0.0),
        ),
        "licence": QualityPart(5, case((or_(of.fees != "", of.access_constraints != ""), 1.0), else_=0.0)),
        "https": QualityPart(
            5,
            func.coalesce(cast(its.https, Float), case((its.url.like("https:%"), 1.0), (its.url.like("http:%"), 0.0))),
        ),
        "cors": QualityPart(5, case((its.cors == "", 0.0), (its.cors != "", 1.0))),
        "conforming": QualityPart(10, case((its.deviations.is_not(None), greatest(1.0 - deviations / 4.0, 0.0)))),
    }


def quality(endpoint: FromClause) -> ColumnElement[int]:
    """Return the score: the points of the known parts, as a share of what these could have, times 100."""
    parts = quality_parts(endpoint).values()
    points = reduce(add, (func.coalesce(part.share * part.weight, 0.0) for part in parts))
    possible = reduce(add, (case((part.share.is_not(None), part.weight), else_=0) for part in parts))
    return whole(points * 100.0 / possible + 0.5)
