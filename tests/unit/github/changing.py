"""An agent that may change things, and the turns of a conversation with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from agents.github.agent import GitHubAgent
from tests.unit.github.conftest import TOKEN
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, InputRequired, TextDelta
from utils.testing.scripted_model import ScriptedModel, call, calls

REPO: dict[str, Any] = {"owner": "octocat", "repo": "hello-world"}
COMMENT: dict[str, Any] = {**REPO, "number": 5, "body": "Thank you!"}

_ids = count(1)


class Conversation:
    """Turns with one agent; a task that waits is answered with `answer`."""

    def __init__(self, agent: GitHubAgent, model: ScriptedModel, thread: str = "thread") -> None:
        self.agent, self.model, self.thread = agent, model, thread

    async def ask(self, text: str, task: str = "task", thread: str | None = None) -> list[AgentEvent]:
        return await self._turn(text, task, thread, resumes=False)

    async def answer(
        self,
        text: str,
        task: str = "task",
        data: Sequence[Mapping[str, Any]] = (),
        thread: str | None = None,
    ) -> list[AgentEvent]:
        return await self._turn(text, task, thread, resumes=True, data=data)

    async def _turn(self, text, task, thread, *, resumes, data=()) -> list[AgentEvent]:
        request = AgentRequest(
            text=text,
            task_id=task,
            context_id="context",
            message_id=f"message-{next(_ids)}",
            thread_id=thread or self.thread,
            resumes=resumes,
            data=data,
        )
        return [event async for event in self.agent.stream(request)]

    def last_result(self) -> dict[str, Any]:
        """The last tool result that the model was shown."""
        result: dict[str, Any] = json.loads(str(self.model.requests[-1].messages[-1].content))
        return result


def agent_with(home: Path, url: str, model: ScriptedModel, saver: Any = None, **environ: str) -> GitHubAgent:
    settings = {"GITHUB_API_URL": url, "GITHUB_TOKEN": TOKEN, "GITHUB_WRITE": "true", **environ}
    runtime = AgentRuntime(
        home=home, settings=AgentSettings.load(settings), model=model, checkpointer=saver or InMemorySaver()
    )
    return GitHubAgent(runtime)


def writing(tool: str = "comment_on_issue", **arguments: Any) -> Any:
    """A model answer that calls a writing tool."""
    return calls(call(tool, **(arguments or COMMENT)))


def question_in(events: Sequence[AgentEvent]) -> InputRequired:
    assert isinstance(events[-1], InputRequired), events
    return events[-1]


def text_of(events: Sequence[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
