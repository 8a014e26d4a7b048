"""A client hears that its conversation was made smaller, with figures."""

from __future__ import annotations

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.agents.test_long_results import Logs
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

WINDOW = 4_000


async def test_a_client_is_told_of_it_in_the_middle_of_a_turn() -> None:
    steps = [calls(call("log", f"c{number}", lines=150)) for number in range(8)]
    environ = {"MAX_CONTEXT_TOKENS": str(WINDOW)}
    model = ScriptedModel.of(*steps, "Done.")
    async with running_agent(Logs, environ=environ, model=model) as url, connected(url) as client:
        answer = await ask(client, "Why did it fail?")
    activity = answer.metadata(ACTIVITY_EXTENSION)
    kinds = [each["kind"] for each in activity]
    assert "context_compacted" in kinds[kinds.index("tool_finished") :]
    for each in activity:
        if each["kind"] == "context_compacted":
            assert each["tokens_after"] < each["tokens_before"]


@pytest.mark.long
async def test_a_client_is_told_that_its_conversation_was_made_smaller() -> None:
    model = ScriptedModel(script=lambda _messages: "Answer.")
    environ = {"MAX_CONTEXT_TOKENS": str(WINDOW)}
    compacted = []
    async with running_agent(Keys, environ=environ, model=model) as url, connected(url) as client:
        answer = await ask(client, "Begin. " + "Many words. " * 300)
        for number in range(6):
            text = f"Go on {number}. " + "More words. " * 300
            answer = await ask(client, text, context_id=answer.context_id)
            found = answer.metadata(ACTIVITY_EXTENSION)
            compacted += [each for each in found if each["kind"] == "context_compacted"]
    assert compacted
    for each in compacted:
        assert each["agent"] == "keys"
        assert each["strategy"] in {"summarise", "clip", "drop"}
        assert 0 < each["tokens_after"] < each["tokens_before"]
        assert 0 < each["limit"] < WINDOW
    assert compacted[-1]["cut"]
