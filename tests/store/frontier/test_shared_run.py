"""The processes of one run share its limit on pages, and read what each has done."""

from __future__ import annotations

from geocrawl.model import State
from geocrawl.store.frontier.shared_run import SharedRun
from tests.support.world import World

RUN = 7


def two(shared_url: str, max_pages: int) -> tuple[World, World]:
    """Two processes on one database that take part in the same run."""
    first = World(shared_url, owner="here:1")
    first.seed(*(f"{name}.example/" for name in "abcdef"))
    worlds = first, World(shared_url, owner="here:2")
    for each in worlds:
        each.frontier.share_run(RUN, max_pages)
    return worlds


def test_pages_under_way_count_and_those_that_were_not_answered_are_free_again(shared_url: str) -> None:
    one, other = two(shared_url, 3)
    leases = [one.lease(), other.lease(), one.lease()]
    assert other.frontier.lease() is None and not other.frontier.may_lease_pages()
    one.settle(leases[0], state=State.FAILED, reason="dns")
    assert other.frontier.may_lease_pages()
    last = other.lease()
    for world, lease in ((other, leases[1]), (one, leases[2]), (other, last)):
        world.settle(lease)
    assert one.frontier.lease() is None and other.frontier.lease() is None


def test_far_from_the_limit_two_processes_lease_without_counting_what_is_under_way(shared_url: str) -> None:
    worlds = two(shared_url, 100_000)
    runs = [world.frontier.share_run(RUN, 100_000) for world in worlds]
    assert all(run.is_far_from_limit() for run in runs)
    assert len({world.lease().host.name for world in (*worlds, *worlds)}) == 4
    assert not SharedRun(worlds[0].database, RUN, 300, most_under_way=300).is_far_from_limit()


def test_another_run_on_the_database_has_a_limit_of_its_own(shared_url: str) -> None:
    one, other = two(shared_url, 1)
    other.frontier.share_run(RUN * 10, 1)
    one.settle(one.lease())
    assert one.frontier.lease() is None
    other.settle(other.lease())
    assert other.frontier.lease() is None


def test_each_process_reads_what_the_others_have_done_and_nothing_is_left_at_the_end(shared_url: str) -> None:
    one, other = two(shared_url, 0)
    runs = [SharedRun(world.database, RUN) for world in (one, other)]
    runs[0].report({"pages": 3})
    runs[0].report({"pages": 4, "reasons": {"dns": 1}})
    assert list(runs[0].reports_of_others()) == [{}]
    assert list(runs[1].reports_of_others()) == [{"pages": 4, "reasons": {"dns": 1}}]
    runs[0].end()
    left = "SELECT name FROM meta WHERE name LIKE 'member:%' UNION ALL SELECT name FROM counter WHERE name LIKE 'run:%'"
    assert not one.database.connection.execute(left).fetchall()
