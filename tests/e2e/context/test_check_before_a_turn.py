"""The check that the base class makes before each turn, and what an agent has that configures nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StateSnapshot
from structlog.testing import capture_logs

from tests.e2e.agents.peers import ask, connected
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.run.user_message import Content
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, ContextCompacted
from utils.messages.notes import dated
from utils.messages.tokens import count_message_tokens, count_tools_tokens
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel
from utils.testing.strict_provider import Call, ChatRequest, Reply, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

THREAD = "conversation"
CONFIG: RunnableConfig = {"configurable": {"thread_id": THREAD}}
NO_MODEL = {"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4o", "CONTEXT_PINS_BY_MODEL": "false"}
LONG = "The service was restarted and is fine again. " * 20


def answer(messages: Sequence[BaseMessage]) -> str:
    return "They spoke of services." if "Write the summary alone" in str(messages[-1].content) else LONG


@dataclass
class Check:
    """One check before a turn, and how often the model had been asked when it began and when it ended."""

    query: Content
    thread: str
    began: int
    ended: int
    done: Sequence[ContextCompacted]


class Talker(BaseLangGraphAgent):
    """An agent of one sentence."""

    name = "talker"
    description = "Talks."
    system = "Be brief."
    own_tools: tuple[BaseTool, ...] = ()

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self.checks: list[Check] = []

    def system_prompt(self) -> str:
        return self.system

    async def tools(self) -> Sequence[BaseTool]:
        return self.own_tools

    async def _preflight_context_check(
        self, config: RunnableConfig, query: Content, state: StateSnapshot
    ) -> list[ContextCompacted]:
        model: Any = self.runtime.model
        began = len(model.requests)
        done = await super()._preflight_context_check(config, query, state)
        thread = config["configurable"]["thread_id"]
        self.checks.append(Check(query, thread, began, len(model.requests), done))
        return done


def runtime(home: Path, saver: InMemorySaver, **environ: str) -> AgentRuntime:
    model = ScriptedModel(script=answer)
    settings = AgentSettings.load({**NO_MODEL, **environ})
    return AgentRuntime(home=home, settings=settings, model=model, checkpointer=saver)


async def say(agent: BaseLangGraphAgent, text: str, number: int) -> list[AgentEvent]:
    request = AgentRequest(
        text=text, task_id=f"t{number}", context_id="c", message_id=f"m{number}", thread_id=THREAD
    )
    return [event async for event in agent.stream(request)]


async def test_the_check_runs_before_the_model_of_each_turn_and_waits_for_no_summary(
    tmp_path: Path,
) -> None:
    agent = Talker(runtime(tmp_path, InMemorySaver(), MAX_CONTEXT_TOKENS="8000"))
    model: Any = agent.runtime.model
    asked: list[int] = []
    for number in range(25):
        asked.append(len(model.requests))
        await say(agent, f"Question {number}? {LONG}", number)
        await asyncio.gather(*agent._after._tasks)
    assert [str(check.query).split("?")[0] for check in agent.checks] == [f"Question {n}" for n in range(25)]
    assert {check.thread for check in agent.checks} == {THREAD}
    assert [check.began for check in agent.checks] == asked
    assert all(check.ended == check.began for check in agent.checks)
    summaries = len(model.requests) - len(agent.checks)
    assert 0 < summaries < len(agent.checks) / 2, "they were written after answers"


NOW = {
    "CONTEXT_SUMMARISE_AT": "0.01",
    "MAX_CONTEXT_TOKENS": "12000",
    "ENABLE_AUTO_COMPRESSION": "false",
}


async def estimate(home: Path, *, query: str = "And now?", turns: int = 18, **of_agent: Any) -> int:
    """Tokens that the check before a turn reckons with."""
    saver, kind = InMemorySaver(), type("Sized", (Talker,), of_agent)
    early = kind(runtime(home, saver))
    for number in range(turns):
        await say(early, f"Question {number}? {LONG}", number)
    agent = kind(runtime(home, saver, **NOW))
    await agent.build()
    assert agent._built is not None
    before = await agent._built.graph.aget_state(CONFIG)
    with capture_logs() as logs:
        assert await agent._preflight_context_check(CONFIG, query, before)
    state = await agent._built.graph.aget_state(CONFIG)
    assert state.values["compaction"]["count"], "the turn begins with the room that was made"
    (told,) = [entry for entry in logs if entry.get("message", "").startswith("Pre-flight check detected ")]
    return int(told["message"].split()[3])


@tool
async def restart(service: str, reason: str) -> str:
    """Restart a service."""
    return "done"


@pytest.mark.long
async def test_the_estimate_counts_system_prompt_history_query_and_tool_schemas(tmp_path: Path) -> None:
    base = await estimate(tmp_path)
    system = "Be brief, and name the service that you speak of."
    query = f"And what became of the others? {LONG}"
    assert await estimate(tmp_path, system=system) - base == _more(
        SystemMessage(system), SystemMessage(Talker.system)
    )
    assert await estimate(tmp_path, query=query) - base == _more(
        HumanMessage(query), HumanMessage("And now?")
    )
    assert await estimate(tmp_path, own_tools=(restart,)) - base == count_tools_tokens(
        [convert_to_openai_tool(restart)]
    )
    said = HumanMessage(f"Question 18? {LONG}", additional_kwargs=dict(dated(datetime.now(UTC).date())))
    turn = [said, AIMessage(LONG, name=Talker.name)]
    assert await estimate(tmp_path, turns=19) - base == sum(map(count_message_tokens, turn))


def _more(message: BaseMessage, than: BaseMessage) -> int:
    return count_message_tokens(message) - count_message_tokens(than)


@tool
async def read_log(name: str) -> str:
    """Read a log."""
    return "step ok\n" * 5_000 + "ERROR: disk full"


@tool
async def read_broken(name: str) -> str:
    """Read what cannot be read."""
    raise ZeroDivisionError("secret detail")


class Plain(BaseLangGraphAgent):
    """A subclass that has tools and sets nothing."""

    name = "plain"
    description = "Reads logs."

    async def tools(self) -> Sequence[BaseTool]:
        return [read_log, read_broken]


@dataclass
class PlainBrain:
    """Calls the tool that the user names, writes summaries, and says what it was told else."""

    seen: list[str] = field(default_factory=list)

    def __call__(self, request: ChatRequest) -> Reply:
        last = request.messages[-1]
        if "Write the summary alone" in last.text:
            return Reply("They read logs.")
        if last.role == "tool":
            self.seen.append(last.text)
            return Reply("I have read it.")
        name = last.text.split()[0]
        return Reply("", [Call("c1", name, {"name": "x"})]) if name.startswith("read_") else Reply(LONG)


@pytest.mark.long
async def test_an_agent_that_configures_nothing_has_check_summary_truncation_and_error_handling() -> None:
    brain = PlainBrain()
    with run_strict_provider(brain, window=12_000) as double, capture_logs() as logs:
        environ = double.environment("openai") | {
            "MAX_CONTEXT_TOKENS": "12000",
            "CONTEXT_PINS_BY_MODEL": "false",
        }
        async with running_agent(Plain, environ=environ) as url, connected(url) as client:
            first = await ask(client, "read_log please")
            broken = await ask(client, "read_broken please", context_id=first.context_id)
            states = [
                (await ask(client, f"Question {number}? {LONG}", context_id=first.context_id)).state
                for number in range(24)
            ]
        assert double.rejections == []
    assert set(states) == {first.state} == {"completed"}
    assert broken.metadata(ERROR_EXTENSION)[0]["code"] == "internal_error"
    log, failure = brain.seen
    assert len(log) <= 10_000
    assert log.endswith("ERROR: disk full")
    assert '"error"' in failure
    assert "secret detail" not in failure
    messages = [str(entry.get("message", "")) for entry in logs]
    assert any(line.startswith("Summarizing ") and line.endswith(" with LangMem") for line in messages)
