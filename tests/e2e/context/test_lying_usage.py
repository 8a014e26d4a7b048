"""A hundred turns on servers that report their tokens wrongly: real client, a double that refuses what is too long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from utils.context.factory import default_context_middleware
from utils.context.settings import ContextSettings
from utils.llm.factory import create_chat_model
from utils.persistence.artifacts import SqliteArtifactStore
from utils.settings import LLMSettings
from utils.testing.strict_provider import ChatRequest, Reply, StrictProvider, run_strict_provider

pytestmark = pytest.mark.long

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t1"}}
TURNS, WINDOW = 100, 8_000
LIES: dict[str, dict[str, Any]] = {
    "in every chunk": {"usage_in_each_chunk": True},
    "only uncached tokens": {"prompt_share": 0.1},
    "a little less": {"prompt_share": 0.75},
    "zero": {"prompt_share": 0.0},
    "a hundredfold": {"prompt_share": 100.0},
}


async def conversation(double: StrictProvider, home: Path, turns: int) -> list[AIMessage]:
    """The model's answers to `turns` long messages."""
    environ = double.environment("openai-compatible") | {"ENABLE_AUTO_COMPRESSION": "false"}
    llm = LLMSettings.load(environ)
    model = create_chat_model(llm)
    settings = ContextSettings.load({"MAX_CONTEXT_TOKENS": str(WINDOW), "ENABLE_AUTO_COMPRESSION": "false"})
    middleware = default_context_middleware(
        llm, settings, model, SqliteArtifactStore(home / "artifacts.sqlite")
    )
    graph: Any = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())
    answers = []
    for turn in range(turns):
        said = f"turn {turn}: " + "some words of the user " * 30
        state = await graph.ainvoke({"messages": [("user", said)]}, CONFIG)
        answers.append(state["messages"][-1])
    return answers


@pytest.mark.parametrize("lie", LIES)
async def test_no_turn_is_refused_whatever_a_server_says_of_its_tokens(lie: str, tmp_path: Path) -> None:
    def answer(_request: ChatRequest) -> Reply:
        return Reply("the answer is long " * 25, **LIES[lie])

    with run_strict_provider(answer, window=WINDOW) as double:
        answers = await conversation(double, tmp_path, TURNS)
    assert len(answers) == TURNS
    assert len(double.rejections) <= 1
    for request, message in zip(double.requests, answers, strict=True):
        assert message.usage_metadata is not None
        told = message.usage_metadata["input_tokens"]
        assert 0.7 * request.tokens <= told <= 1.5 * request.tokens, "usage and budgets count what was sent"
