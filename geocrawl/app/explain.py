"""Explain an address: its rank by the strategy of the catalogue, and the rule that refuses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.crawler.learning import read_all, restore
from geocrawl.crawler.scope import text_rule
from geocrawl.model import Relevance, Url
from geocrawl.ports import Waiting
from geocrawl.settings import DEFAULT_STRATEGY
from geocrawl.store.engine.connection import Connection
from geocrawl.utc import date_of

if TYPE_CHECKING:
    from geocrawl.settings import Settings
    from geocrawl.store.queries.why import Why


def explain(settings: Settings, connection: Connection, url: Url, found: Why) -> tuple[str, Mapping[str, object], str]:
    """Return (strategy, the parts of the rank, the rule that refuses it or '') of an address.

    `found` is the result of `store.queries.why` for the address. A strategy that learns explains with its state so far.
    """
    from geocrawl.store.engine.reading import stored_strategy, stored_topic
    from geocrawl.store.frontier.feedback_log import read_feedback, read_state
    from geocrawl.store.operations.opt_out import OptOut

    stored = stored_strategy(connection)
    name = settings.strategy or stored or DEFAULT_STRATEGY
    strategy = wiring.make_strategy(replace(settings, topic=settings.topic or stored_topic(connection)), name)
    if strategy.learns and name == stored:
        restore(strategy, read_state(connection), read_feedback(connection), read_all)
    is_blocked = OptOut(connection).covers(url.host)
    refused = "forgotten" if is_blocked else text_rule(settings, date_of(wiring.system_clock().now()))(url)
    page, parent = found.page, found.parent
    if page is None:
        return name, {}, refused
    relevance = Relevance.HIGH if parent is None else Relevance(parent.relevance or 0)
    reasons = strategy.explain(Waiting(page.id, url, page.anchor, page.depth, relevance))
    return name, reasons, refused
