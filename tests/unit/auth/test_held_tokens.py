"""Exchanged tokens in memory: who gets them, and how long."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock
from utils.auth.credential import keep_credential, take_credential
from utils.auth.exchange import Exchanged, NotExchanged, NoTokenReason
from utils.auth.held_tokens import HeldTokens


def lacking(held: HeldTokens, task: str, agent: str) -> NoTokenReason:
    with pytest.raises(NotExchanged) as error:
        held.token(task, agent)
    return error.value.why


def test_a_token_is_found_for_its_task_and_agent_until_shortly_before_it_ends() -> None:
    clock = Clock()
    held = HeldTokens(clock=clock)
    held.hold(
        "t",
        {"vault": Exchanged("x", 1_060.0), "safe": NoTokenReason.REFUSED, "bank": NoTokenReason.UNAVAILABLE},
    )
    assert held.token("t", "vault") == "x"
    assert lacking(held, "t", "safe") is NoTokenReason.REFUSED
    assert lacking(held, "t", "bank") is NoTokenReason.UNAVAILABLE
    assert lacking(held, "t", "third") is NoTokenReason.GONE
    assert lacking(held, "u", "vault") is NoTokenReason.GONE
    clock.now = 1_056.0
    assert lacking(held, "t", "vault") is NoTokenReason.GONE


def test_the_end_of_a_turn_takes_its_tokens_and_not_those_of_the_next_turn_of_its_task() -> None:
    held = HeldTokens(clock=Clock())
    held.hold("t", {"vault": Exchanged("first", 2_000.0)})
    first = held.of("t")
    held.hold("t", {"vault": Exchanged("second", 2_000.0)})
    held.drop("t", first)
    assert held.token("t", "vault") == "second"
    held.drop("t", held.of("t"))
    assert lacking(held, "t", "vault") is NoTokenReason.GONE
    held.drop("t", first)


def test_what_has_ended_is_forgotten_also_where_its_turn_never_ran() -> None:
    clock = Clock()
    held = HeldTokens(clock=clock)
    held.hold("t", {"vault": Exchanged("x", 1_060.0)})
    clock.now = 1_061.0
    held.hold("u", {"vault": Exchanged("y", 2_000.0)})
    assert (held.of("t"), held.of("u") is not None) == (None, True)


def test_a_token_is_shown_by_nothing_that_holds_it_and_a_credential_is_taken_once() -> None:
    assert "s3cret" not in repr(Exchanged("s3cret", 1.0))
    state: dict[str, object] = {}
    keep_credential(state, "Bearer s3cret")
    assert "s3cret" not in repr(state)
    copied = dict(state)
    assert [take_credential(state), take_credential(state), take_credential(copied)] == ["s3cret", "", ""]
    assert state == {}
    keep_credential(state, "Basic s3cret")
    assert take_credential(state) == ""
