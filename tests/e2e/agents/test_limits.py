"""A turn has an end, whatever its model wants."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from langchain_core.messages import BaseMessage

from tests.e2e.agents.peers import Keys, ask, connected
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

MOST = 4


async def test_a_model_that_never_comes_to_an_end_is_ended() -> None:
    def once_more(messages: Sequence[BaseMessage]) -> ScriptedReply:
        if len(messages) > 40:  # a limit that does not hold shall not run for ever
            return ScriptedReply("At last.")
        return calls(call("lookup", f"c{len(messages)}", key=f"k{len(messages)}"))

    model = ScriptedModel(script=once_more)
    limit = {"MAX_MODEL_CALLS_PER_TURN": str(MOST)}
    async with running_agent(Keys, environ=limit, model=model) as url, connected(url) as client:
        answer = await ask(client, "Look.")
        assert answer.text.startswith(f"I stopped after {MOST} steps")
        assert (answer.state, len(model.requests)) == ("completed", MOST)
        again = await ask(client, "Go on.", context_id=answer.context_id)
        assert (again.state, len(model.requests)) == ("completed", 2 * MOST)


async def test_it_has_twenty_five_model_calls_where_nothing_is_configured() -> None:
    def once_more(messages: Sequence[BaseMessage]) -> ScriptedReply:
        if len(messages) > 80:  # a limit that does not hold shall not run for ever
            return ScriptedReply("At last.")
        return calls(call("lookup", f"c{len(messages)}", key=f"k{len(messages)}"))

    model = ScriptedModel(script=once_more)
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        answer = await ask(client, "Look.")
    assert (answer.state, len(model.requests)) == ("completed", 25)
    assert answer.text.startswith("I stopped after 25 steps")
    assert "the value of k" in answer.text
