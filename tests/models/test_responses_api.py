"""A reasoning model over OpenAI's Responses API: what is sent back to it, and what is reported of its usage."""

from __future__ import annotations

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.models.scribe import WRITTEN, Scribe
from tests.models.table.responses import REASONING
from utils.a2a_common.protocol.extensions import USAGE_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.strict.conversation import Api
from utils.testing.strict_provider import Call, Reply, ScriptedBrain, run_strict_provider

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]


async def test_reasoning_goes_back_with_its_call_and_the_servers_usage_is_reported() -> None:
    WRITTEN.clear()
    script = [
        Reply("", [Call("c1", "write", {"line": "x y"})], reasoning="The user wants a line."),
        Reply("Written.", reasoning="It is done."),
        Reply("Nothing else."),
    ]
    with run_strict_provider(ScriptedBrain(script)) as double:
        async with (
            running_agent(Scribe, environ={**double.environment("openai"), **REASONING}) as url,
            connected(url) as client,
        ):
            first = await ask(client, "write x y")
            second = await ask(client, "And then?", context_id=first.context_id)
    assert (first.text, second.text, WRITTEN) == ("Written.", "Nothing else.", ["x y"])
    assert double.rejections == []
    assert {request.api for request in double.requests} == {Api.RESPONSES}
    opening, result, later = (request.body for request in double.requests)
    assert (opening["reasoning"], opening["store"], opening["include"]) == (
        {"effort": "low"},
        False,
        ["reasoning.encrypted_content"],
    )
    assert "temperature" not in opening
    kinds = [item.get("type", "message") for item in result["input"]]
    assert kinds[-3:] == ["reasoning", "function_call", "function_call_output"]
    assert result["input"][-3]["encrypted_content"]
    assert [item.get("type", "message") for item in later["input"]].count("reasoning") == 2
    (usage,) = first.metadata(USAGE_EXTENSION)[-1].values()
    sent = sum(request.tokens for request in double.requests[:2])
    assert (usage["input_tokens"], usage["output_tokens"]) == (sent, 35)
