"""Whose memory a turn has."""

from __future__ import annotations

from dataclasses import replace

from multi_agents.platform_engineer.memory.remembering import owner_of_request
from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.a2a_common.protocol.request import AgentRequest, Caller
from utils.memory.memory import owner_label

OF_ANN = AgentRequest("Hi.", "t", "c", "m", "thread", Caller("ann", "tenant"))


def test_a_turn_has_the_memory_of_its_caller() -> None:
    assert owner_of_request(OF_ANN) == owner_label("tenant", "ann")
    assert owner_of_request(replace(OF_ANN, caller=Caller())) is None


def test_what_another_agent_asks_has_no_memory() -> None:
    assert owner_of_request(replace(OF_ANN, delegation=DelegationContext("Hi.", 1, 1, "p"))) is None
