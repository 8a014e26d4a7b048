"""Settings are parsed once, when an agent is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from agents.template.agent import TemplateAgent
from multi_agents.platform_engineer.agent import PlatformEngineer
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import Completed
from utils.testing.scripted_model import ScriptedModel

QUESTION = AgentRequest(text="Hello", task_id="t", context_id="c", message_id="m", thread_id="h")


class Variables(Mapping[str, str]):
    """Variables that count how often one of them is read."""

    def __init__(self, **values: str) -> None:
        self._values = values
        self.reads = 0

    def __getitem__(self, name: str) -> str:
        self.reads += 1
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        self.reads += 1
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def runtime(home: Path, environ: Mapping[str, str], model: ScriptedModel) -> AgentRuntime:
    settings = AgentSettings.load(environ)
    return AgentRuntime(home=home, settings=settings, model=model, checkpointer=InMemorySaver())


async def test_a_turn_parses_no_settings(tmp_path):
    environ = Variables(LLM_PROVIDER="openai", LLM_MODEL="gpt-4o", OPENAI_API_KEY="k")
    agent = TemplateAgent(runtime(tmp_path, environ, ScriptedModel.of("Hello.", "no constraint")))
    await agent.start()
    try:
        environ.reads = 0
        events = [event async for event in agent.stream(QUESTION)]
    finally:
        await agent.close()
    assert events[-1] == Completed()
    assert environ.reads == 0


async def test_a_message_that_may_answer_a_question_parses_no_settings(tmp_path):
    environ = Variables(SUB_AGENTS="")
    supervisor = PlatformEngineer(runtime(tmp_path, environ, ScriptedModel.of()))
    environ.reads = 0
    assert await supervisor.is_answer("Which repository?", "octocat/hello-world", [])
    assert environ.reads == 0


def test_the_settings_of_an_agent_show_no_secret(tmp_path):
    settings = AgentSettings.load({"OPENAI_API_KEY": "sk-very-hidden-value", "GITHUB_TOKEN": "ghp_hidden"})
    assert "hidden" not in repr(settings)
    assert "hidden" not in repr(runtime(tmp_path, settings.environ, ScriptedModel.of()))
