"""Explain an address: its rank by the strategy of the catalogue, and the rule that refuses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from geocrawl.app import wiring
from geocrawl.crawler.learning import read_all, restore
from geocrawl.crawler.scope import text_rule
from geocrawl.errors import DatabaseFault, described
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Relevance, Url
from geocrawl.ports import Waiting
from geocrawl.settings import DEFAULT_STRATEGY, Settings
from geocrawl.store import Connection, OptOut, stored_strategy, stored_topic
from geocrawl.store.catalogue.read.show import Why
from geocrawl.store.frontier.learner import read_feedback, read_state
from geocrawl.wording import date_of


def explain(
    settings: Settings, connection: Connection, url: Url, found: Why, say: Callable[[str], object]
) -> tuple[str, Mapping[str, object], str]:
    """Return (strategy, the parts of the rank, the rule that refuses it or '') of an address.

    `found` is the result of `read_why` for the address. A strategy that learns explains with its state so far; `say`
    receives a line when that state cannot be read.
    """
    stored = stored_strategy(connection)
    name = settings.strategy or stored or DEFAULT_STRATEGY
    strategy = wiring.make_strategy(replace(settings, topic=settings.topic or stored_topic(connection)), name)
    if strategy.learns and name == stored:
        try:
            restore(strategy, read_state(connection), read_feedback(connection), read_all)
        except DatabaseFault:
            raise
        except Exception as error:  # a dump may be damaged in any way, and the address can still be explained
            say(f"what {name} has learnt cannot be read ({described(error)}): the rank is explained without it")
    refused = (
        "forgotten" if OptOut(connection).covers(url.host) else text_rule(settings, date_of(SystemClock().now()))(url)
    )
    page, parent = found.page, found.parent
    if page is None:
        return name, {}, refused
    relevance = Relevance.HIGH if parent is None else Relevance(parent.relevance or 0)
    return name, strategy.explain(Waiting(page.id, url, page.anchor, page.depth, relevance)), refused
