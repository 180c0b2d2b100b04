"""A crawl of a host with slow services among its quick ones, on loopback; `slots` is tested in virtual time."""

from __future__ import annotations

from tests.support.slow_services import measure


def test_slow_services_of_a_host_are_proved_beside_its_quick_ones_one_request_at_a_time() -> None:
    found = measure(services=8, slow=2, answer_s=0.5)
    assert (found["quick_proved"], found["slow_proved"]) == (6, 2), found
    assert found["most_at_once"] == 1
    assert found["requests_a_service"] < 4.0, "none is asked more often because another one is slow"
