"""A supervisor over agents that ask, wait and delegate, each on a real server of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a.types.a2a_pb2 import ListTasksRequest, Task
from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.types import interrupt

from agents.github.testing.server import GitHubServer
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, Words, connected
from tests.e2e.agents.test_delegation import until_ready
from utils.a2a_common.protocol.request import AgentRequest
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

FORM = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where to look"}, "stars": {"type": "integer"}},
    "required": ["city"],
}


@tool
async def where(runtime: ToolRuntime[AgentRequest]) -> str:
    """Asks the user for a place."""
    del runtime
    answer = interrupt({"question": "Which city?", "origin": "asker", "form": FORM})
    return f"The user said {answer}"


@tool
async def when() -> str:
    """Asks the user for a date."""
    return f"The user said {interrupt('Which dates?')}"


class Asker(Keys):
    """An agent that asks its user."""

    name = "asker"
    description = "Finds places and asks where."

    async def tools(self) -> Sequence[BaseTool]:
        return [where, when]


class Second(Asker):
    """A second agent that asks."""

    name = "second"


class Middle(PlatformEngineer):
    """A supervisor that serves as a sub-agent."""

    name = "middle"


@dataclass
class Team:
    """What a test holds of a running team."""

    url: str
    models: Mapping[str, ScriptedModel]
    urls: Mapping[str, str]

    @property
    def supervisor(self) -> ScriptedModel:
        return self.models["supervisor"]

    async def tasks(self, agent: str) -> list[Task]:
        """The tasks of an agent, oldest first."""
        async with connected(self.urls[agent]) as client:
            listed = ListTasksRequest(history_length=50, include_artifacts=True)
            return list(reversed((await client.list_tasks(listed)).tasks))


CLASSES: Mapping[str, Any] = {"asker": Asker, "second": Second, "keys": Keys, "words": Words}


@asynccontextmanager
async def team(
    supervisor: Any,
    *,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    **scripts: Any,
) -> AsyncIterator[Team]:
    """A supervisor over one agent for each further script."""
    models = {"supervisor": model(supervisor)} | {name: model(script) for name, script in scripts.items()}
    async with AsyncExitStack() as stack:
        urls = {
            name: await stack.enter_async_context(running_agent(CLASSES[name], model=models[name]))
            for name in scripts
        }
        told = {"SUB_AGENTS_SHARES": ",".join(f"{name}=results" for name in urls), **(environ or {})}
        url = await stack.enter_async_context(supervising(urls, models["supervisor"], told, home))
        yield Team(url, models, urls)


@asynccontextmanager
async def supervising(
    urls: Mapping[str, str],
    scripted: ScriptedModel | None,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    agent_class: type[PlatformEngineer] = PlatformEngineer,
) -> AsyncIterator[str]:
    """A supervisor over agents that run already, on the model of the settings where none is given; its URL."""
    listed = ",".join(f"{name}={url}" for name, url in urls.items())
    settings = {"SUB_AGENTS": listed, **(environ or {})}
    async with running_agent(agent_class, environ=settings, model=scripted, home=home) as url:
        await until_ready(url)
        yield url


@asynccontextmanager
async def handing_on(agent: str, url: str, said: str) -> AsyncIterator[tuple[str, ScriptedModel]]:
    """A supervisor whose model hands these words to an agent that runs already, and then answers "Done."."""
    script = model([calls(call(agent, request=said)), "Done."])
    async with supervising({agent: url}, script) as supervisor:
        yield supervisor, script


def writing_to(double: GitHubServer) -> dict[str, str]:
    """Settings of a GitHub agent that may change what is at a double of GitHub."""
    return {
        "GITHUB_API_URL": double.url,
        "GITHUB_TOKEN": "of-the-test",
        "GITHUB_WRITE": "true",
        "EMBEDDINGS_PROVIDER": "none",
    }


def model(script: Any) -> ScriptedModel:
    """A model with a script, which may be a function."""
    if isinstance(script, ScriptedModel):
        return script
    return ScriptedModel(script=script if callable(script) else list(script))


def results(scripted: ScriptedModel, request: int = -1) -> list[str]:
    """What the tools had returned when the model was asked."""
    return [str(m.content) for m in scripted.requests[request].messages if isinstance(m, ToolMessage)]


def sent_ids(task: Task) -> list[str]:
    """Ids of the user's messages in a task, in order."""
    return [each.message_id for each in task.history if each.role == 1]


def words_alone(message: BaseMessage) -> str:
    """What a message says, without what a model is told behind the user's words."""
    content = message.content
    return content if isinstance(content, str) else str(content[0]["text"])  # type: ignore[index]
