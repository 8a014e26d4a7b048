"""The trail of agents that a request came through."""

from __future__ import annotations

import pytest

from utils.a2a_common.protocol.delegation_chain import MOST_HOPS, Hop, hop, parse_trail, refusal
from utils.a2a_common.protocol.delegation_context import DelegationContext, find_delegation_context

HERE, THERE = "http://127.0.0.1:8001", "http://127.0.0.1:8002/"


def test_a_request_that_its_own_sender_would_get_back_is_refused() -> None:
    trail = [hop("a", HERE, "What is x?"), hop("b", THERE, "Find x")]
    assert "handed on this very request" in refusal(trail, hop("a", HERE + "/", "what  is X"))
    assert refusal(trail, hop("a", HERE, "What is y?")) == ""
    assert refusal(trail, hop("a", "http://127.0.0.1:8003", "What is x?")) == ""  # another agent of that name


def test_the_name_that_an_agent_is_configured_under_does_not_matter() -> None:
    assert refusal([hop("platform-engineer", HERE, "x")], hop("head-office", HERE, "x"))


def test_a_chain_has_an_end_also_where_each_agent_rephrases() -> None:
    trail = [hop(f"agent-{n}", HERE, f"request {n}") for n in range(MOST_HOPS)]
    assert refusal(trail[:-1], hop("b", THERE, "new")) == ""
    assert f"handed on by {MOST_HOPS} agents" in refusal(trail, hop("b", THERE, "new"))


def test_the_trail_travels_in_the_scope_without_addresses_and_requests() -> None:
    trail = [hop("a", HERE, "secret words"), hop("b", THERE, "y")]
    payload = DelegationContext("x", 1, 1, "t", trail=trail).to_payload()
    read = find_delegation_context([payload])
    assert read is not None
    assert read.trail == trail
    assert "8001" not in str(payload)
    assert "secret" not in str(payload)


@pytest.mark.parametrize(
    ("value", "hops"),
    [
        (None, []),
        ("abc", []),
        (5, []),
        ([1, "x", {"agent": "a"}, {"digest": 7}], []),
        ([{"digest": "d" * 99}], [Hop("", "d" * 32)]),
        ([{"agent": "a" * 999, "digest": "d"}], [Hop("a" * 200, "d")]),
    ],
)
def test_what_a_peer_says_of_it_is_not_trusted(value: object, hops: list[Hop]) -> None:
    assert parse_trail(value) == hops


def test_a_peer_cannot_make_it_long() -> None:
    assert len(parse_trail([{"digest": str(n)} for n in range(10_000)])) == MOST_HOPS
