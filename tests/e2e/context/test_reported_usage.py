"""Servers that report their tokens wrongly, and what becomes of a conversation then: real client, real HTTP."""

from __future__ import annotations

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import ChatRequest, Reply, run_strict_provider

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


async def test_usage_that_a_server_repeats_in_each_chunk_costs_no_turn() -> None:
    def answers(_request: ChatRequest) -> Reply:
        return Reply(chunks=["word "] * 150, usage_in_each_chunk=True)

    with run_strict_provider(answers, window=32_000) as double:
        environ = double.environment("openai-compatible") | {"MAX_CONTEXT_TOKENS": "32000"}
        async with running_agent(Keys, environ=environ) as url, connected(url) as client:
            answer = await ask(client, "hello")
            for _ in range(3):
                answer = await ask(client, "And now?", context_id=answer.context_id)
                assert answer.state == "completed"
    assert double.rejections == []
    assert len(double.requests[-1].messages) == 8, "nothing was left out: the conversation is short"


@pytest.mark.parametrize("share", [0.1, 0.8])
async def test_usage_without_the_cached_tokens_costs_no_turn_in_a_small_window(share: float) -> None:
    def answers(_request: ChatRequest) -> Reply:
        return Reply("the answer is long " * 60, prompt_share=share)

    with run_strict_provider(answers, window=8_000) as double:
        environ = double.environment("openai-compatible") | {"MAX_CONTEXT_TOKENS": "8000"}
        async with running_agent(Keys, environ=environ) as url, connected(url) as client:
            context, ended = "", list[str]()
            for turn in range(35):
                answer = await ask(client, f"turn {turn}: " + "some words " * 100, context_id=context)
                context = answer.context_id
                ended.append(answer.state)
    assert ended == ["completed"] * 35
    assert all(each.rule == "window" for each in double.rejections)
    sizes = [len(str(each.body["messages"])) for each in double.rejections]
    assert len(sizes) == len(set(sizes)), "no request is sent again that was refused"
