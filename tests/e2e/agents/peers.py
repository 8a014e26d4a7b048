"""Small agents and a client for the tests of turns and delegation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from a2a.client import Client, ClientConfig, create_client
from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from google.protobuf import json_format
from langchain_core.tools import BaseTool, tool

from utils.a2a_common import BaseLangGraphAgent, Skill
from utils.a2a_common.client.transport.connection import http_client
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ACTIVITY_PLAN, QUESTION_EXTENSION
from utils.errors import UpstreamRefused, UpstreamUnavailable

WAITED = "model_waited"


@tool
async def lookup(key: str) -> str:
    """Looks up a value by its key."""
    if key == "down":
        raise UpstreamUnavailable("The key service cannot be reached right now.")
    if key == "missing":
        raise UpstreamRefused("There is no such key.")
    if key == "bug":
        raise ZeroDivisionError("secret detail")
    return f"the value of {key}"


class Keys(BaseLangGraphAgent):
    """An agent with one tool that fails in every way a tool can."""

    name = "keys"
    description = "Looks up values by key."
    skills = (Skill("lookup", "Look up", "Looks up a value.", examples=("what is the value of a?",)),)

    def system_prompt(self) -> str:
        return "Use the tool lookup."

    async def tools(self) -> Sequence[BaseTool]:
        return [lookup]


class Words(Keys):
    """A second agent, so that a supervisor has two."""

    name = "words"
    description = "Explains words."


@dataclass
class Answer:
    """What a client saw of one message."""

    events: list[StreamResponse] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        return [str(event.WhichOneof("payload")) for event in self.events]

    @property
    def task_id(self) -> str:
        return self.events[0].task.id

    @property
    def context_id(self) -> str:
        return self.events[0].task.context_id

    @property
    def statuses(self) -> list[int]:
        found: list[int] = []
        for event in self.events:
            if event.HasField("task"):
                found.append(int(event.task.status.state))
            elif event.HasField("status_update"):
                found.append(int(event.status_update.status.state))
        return found

    @property
    def state(self) -> str:
        return TaskState.Name(TaskState.ValueType(self.statuses[-1])).removeprefix("TASK_STATE_").lower()

    @property
    def chunks(self) -> list[tuple[bool, bool, str]]:
        """(append, last, text) of each chunk of the answer."""
        return [
            (update.append, update.last_chunk, "".join(part.text for part in update.artifact.parts))
            for event in self.events
            if event.HasField("artifact_update")
            and (update := event.artifact_update).artifact.name == "response"
        ]

    @property
    def text(self) -> str:
        """The answer as a client that follows append and replace has it."""
        said = ""
        for append, _, text in self.chunks:
            said = said + text if append else text
        return said

    def metadata(self, uri: str) -> list[dict[str, Any]]:
        """All payloads of an extension."""
        found = [
            json_format.MessageToDict(event.status_update.metadata)
            for event in self.events
            if event.HasField("status_update")
        ]
        return [each[uri] for each in found if uri in each]

    @property
    def activity(self) -> list[dict[str, Any]]:
        """What the agent told of its work, without its signs of life: it gives them on a machine that stalls, too."""
        told = self.metadata(ACTIVITY_EXTENSION)
        return [each for each in told if WAITED not in (each["kind"], each.get("activity", {}).get("kind"))]

    @property
    def plans(self) -> list[list[dict[str, Any]]]:
        return [payload["steps"] for payload in self.metadata(ACTIVITY_PLAN)]

    @property
    def nonce(self) -> str:
        """The secret that answers the question, where it came along."""
        asked = json_format.MessageToDict(self.events[-1].status_update.status.message.metadata)
        return str(asked.get(QUESTION_EXTENSION, {}).get("nonce", ""))

    @property
    def last_words(self) -> str:
        """Text of the last status message."""
        message = self.events[-1].status_update.status.message
        return "".join(part.text for part in message.parts)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Client]:
    async with http_client(url) as http:
        yield await create_client(url, ClientConfig(httpx_client=http))


def message(
    text: str, *, context_id: str = "", task_id: str = "", message_id: str = "", nonce: str = ""
) -> SendMessageRequest:
    request = SendMessageRequest(
        message=Message(
            message_id=message_id or str(uuid4()),
            role=Role.ROLE_USER,
            parts=[Part(text=text)],
            context_id=context_id,
            task_id=task_id,
        )
    )
    if nonce:
        request.message.metadata.update({QUESTION_EXTENSION: {"nonce": nonce}})
    return request


async def ask(client: Client, text: str, **where: str) -> Answer:
    """Send a message, stream the answer."""
    answer = Answer()
    async for event in client.send_message(message(text, **where)):
        answer.events.append(event)
    return answer


async def ask_unary(url: str, text: str) -> Task:
    """Send a message and wait for the one answer."""
    async with http_client(url) as http:
        client = await create_client(url, ClientConfig(httpx_client=http, streaming=False))
        async for event in client.send_message(message(text)):
            return event.task
    raise AssertionError("no answer")
