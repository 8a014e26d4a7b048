"""Marks for the prompt cache, at the wire of each provider's double."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.context.long_talk import Operator
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, ScriptedBrain, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

MARK = {"type": "ephemeral"}
POINT = {"cachePoint": {"type": "default"}}
SCRIPT: list[Any] = [Reply("", [Call("c1", "deployment", {"number": 1})]), "It is fine."]


async def requests(provider: str, **environ: str) -> list[ChatRequest]:
    """What a turn with a tool call sends."""
    with run_strict_provider(ScriptedBrain(list(SCRIPT))) as double:
        settings = double.environment(provider) | {"CONTEXT_PINS_BY_MODEL": "false"} | environ
        async with running_agent(Operator, environ=settings) as url, connected(url) as client:
            assert (await ask(client, "Is deployment 1 fine?")).text == "It is fine."
        assert double.rejections == []
        return double.requests


def last_block(request: ChatRequest) -> dict[str, Any]:
    block: dict[str, Any] = request.body["messages"][-1]["content"][-1]
    return block


async def test_anthropic_is_told_to_keep_the_instruction_and_the_conversation() -> None:
    for request in await requests("anthropic"):
        assert request.body["system"][-1]["cache_control"] == MARK
        assert last_block(request)["cache_control"] == MARK
        assert json.dumps(request.body).count("cache_control") == 2


async def test_a_model_on_bedrock_that_takes_cache_points_gets_them() -> None:
    for request in await requests("aws-bedrock", LLM_MODEL="anthropic.claude-sonnet-4-5-20250929-v1:0"):
        assert request.body["system"][-1] == POINT
        assert last_block(request) == POINT


@pytest.mark.parametrize(
    ("provider", "model"), [("aws-bedrock", "meta.llama3-1-70b-instruct-v1:0"), ("openai", "gpt-4o")]
)
async def test_no_other_model_is_sent_a_mark(provider: str, model: str) -> None:
    for request in await requests(provider, LLM_MODEL=model):
        sent = json.dumps(request.body)
        assert "cachePoint" not in sent
        assert "cache_control" not in sent
