"""Before a foreign agent is asked, the user is, where the conversation holds words of our own agents; also those of a failed one."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.leaving import needs_confirmation
from utils.a2a_common.protocol.shares import Shares
from utils.messages.marks import PROBLEM, Problem
from utils.testing.scripted_model import call


@pytest.mark.parametrize(
    ("agent", "quotes", "asks"),
    [("keys", True, True), ("keys", False, False), ("weather", True, False)],
)
def test_a_failure_counts_where_it_quotes_one_of_our_agents(agent: str, quotes: bool, asks: bool) -> None:
    failed = ToolMessage(
        "{}",
        tool_call_id="c1",
        name=agent,
        additional_kwargs=PROBLEM.entry(Problem("x", "No.", quotes=quotes)),
    )
    first = AIMessage("", tool_calls=[call(agent, "c1", request="Read")])
    second = AIMessage("", tool_calls=[call("weather", "c2", request="Rain?")])
    messages = [HumanMessage("Read, then ask."), first, failed, second]
    assert needs_confirmation("weather", messages, "c2", Shares.NOTHING, lambda name: name == "keys") is asks
