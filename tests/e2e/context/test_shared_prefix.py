"""What two requests of an agent have in common: everything but what was said last."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.context.long_talk import Operator
from tests.e2e.delegation.teams import supervising
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls
from utils.testing.strict_provider import ChatRequest, ScriptedBrain, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


def beginning(request: ChatRequest) -> str:
    """All of a request but its last message, as it was sent."""
    body = {"tools": request.body.get("tools"), "messages": request.body["messages"][:-1]}
    return json.dumps(body)


async def test_two_tasks_of_a_sub_agent_differ_in_their_last_message_only() -> None:
    script = [
        calls(call("operator", "c1", request="Look at deployment 1")),
        "One is fine.",
        calls(call("operator", "c2", request="Look at deployment 2")),
        "Two is fine.",
    ]
    with run_strict_provider(ScriptedBrain(["fine", "fine too"])) as double:
        async with (
            running_agent(Operator, environ=double.environment("openai")) as operator,
            supervising(
                {"operator": operator},
                ScriptedModel(script=script),
                {"SUB_AGENTS_SHARES": "operator=request"},
            ) as url,
            connected(url) as client,
        ):
            await ask(client, "Is the first deployment fine, or not?")
            await ask(client, "And what of the second one?")
        first, second = (request for request in double.requests if request.tools)
    assert beginning(first) == beginning(second)
    assert "original request" in first.messages[-1].notes
    assert first.messages[-1].notes != second.messages[-1].notes


async def test_the_second_turn_begins_as_the_first_one_did() -> None:
    with run_strict_provider(ScriptedBrain(["Hello.", "Hello again."])) as double:
        environ = double.environment("openai") | {"CONTEXT_PINS_BY_MODEL": "false"}
        async with running_agent(Operator, environ=environ) as url, connected(url) as client:
            first = await ask(client, "Hello")
            await ask(client, "And again", context_id=first.context_id)
        one, two = double.requests
    assert two.body["messages"][: len(one.body["messages"])] == one.body["messages"]
    assert two.body["tools"] == one.body["tools"]


async def test_a_model_is_told_the_date_behind_the_users_words() -> None:
    with run_strict_provider(ScriptedBrain(["Hello."])) as double:
        before = datetime.now(UTC).date()
        async with (
            running_agent(Operator, environ=double.environment("openai")) as url,
            connected(url) as client,
        ):
            await ask(client, "Hello")
        days = {before, datetime.now(UTC).date()}
        said = double.requests[0].messages[-1]
    assert said.text == "Hello"
    assert said.notes in {f"(Today is {day:%A, %Y-%m-%d}.)" for day in days}
    assert "Today is" not in double.requests[0].messages[0].text
