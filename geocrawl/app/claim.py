"""Claim a database for a crawl: restore its strategy's learnt state, or rerank its queue for another strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geocrawl.model import State
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.store.read.processes import OtherRun


def claim(session: Session, others: Sequence[OtherRun] = ()) -> list[str]:
    """Record the session's strategy in its database and rank the queue by it. Returns notes for a person.

    While `others` crawl on the database, the session keeps their strategy. One of them learns from the visits of all.
    Raises UsageError when its strategy or topic differs from theirs.
    """
    strategy, topic = session.strategy, session.settings.topic
    former, former_topic = session.stored_strategy, session.stored_topic
    if others and not former:  # the other crawl has just begun, and has not written its strategy yet
        former, former_topic = others[0].strategy, topic
    is_same = (former, former_topic) == (strategy.name, topic)
    _refuse_another_order(session, others, is_same=is_same)
    notes = []
    if is_same:
        notes = session.learning.restore()
        if others and session.strategy.learns:
            notes.append(_who_learns(others[0], here=session.learning.leads))
        if session.learning.begins_anew:  # an earlier version may have had other tiers
            session.frontier.rerank((w.id, strategy.rank(w)) for w in session.frontier.waiting())
            # Some strategies learn their topic from the start pages.
            session.frontier.add_seeds(session.frontier.seeds(), strategy.seed_rank(), again=True)
    else:
        session.frontier.clear_feedback()
        session.learning.begin()
    waiting = session.frontier.stats().states.get(State.WAITING, 0)
    if former and not is_same:
        count = session.frontier.rerank((w.id, strategy.rank(w)) for w in session.frontier.waiting())
        now, before = _named(strategy.name, topic), _named(former, former_topic)
        notes.append(f"Strategy {now} instead of {before}: {counted(count, 'waiting address')} reranked.")
    elif waiting:
        notes.append(f"Continuing with {counted(waiting, 'waiting address')}, strategy {strategy.name}.")
    session.store.facts.write_strategy(strategy.name, topic)
    return notes


def _refuse_another_order(session: Session, others: Sequence[OtherRun], *, is_same: bool) -> None:
    """Raise UsageError when the session would change the order of the crawls that are under way."""
    from geocrawl.errors import UsageError

    if others and not is_same:
        raise UsageError(
            f"{session.store.path}: {others[0]} crawls on this database; let it end before you change its "
            "strategy or topic, or name another --db"
        )


def _who_learns(other: OtherRun, *, here: bool) -> str:
    """Return a line that names another crawl, and which of the crawls learns."""
    learner = "This crawl learns from the visits of all" if here else "Another one learns, also from this one's visits"
    return f"Another crawl uses this database: {other}. {learner}."


def _named(strategy: str, topic: str) -> str:
    return f"{strategy} (topic {topic})" if topic else strategy
