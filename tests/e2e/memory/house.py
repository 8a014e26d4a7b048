"""A supervisor with long-term memory for two people with API keys, on a strict provider."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import httpx
from a2a.client import Client, ClientConfig, create_client
from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest
from google.protobuf import json_format, struct_pb2

from multi_agents.platform_engineer.agent import PlatformEngineer
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Fault, Reply

URI = "urn:platform-engineer:ext:memory:v1"
ON = {"LONG_TERM_MEMORY": "on", "AUTH_MODE": "api-key", "EMBEDDINGS_PROVIDER": "none"}


@dataclass
class Brain:
    """Answers requests in turn, and questions for memories with what stands in `notes` for a word of the message.

    Attributes:
        says: The answers, in order; "Done." where there are no more.
        notes: What the model finds worth remembering, by a word of the message.
        questions: The questions for memories that came.
        turns: The requests for an answer that came; questions for memories come beside them, at any time.
        asked: Set when such a question came; the double runs in a thread of its own.
        may_answer: Such a question is answered once it is set.
    """

    says: list[Reply] = field(default_factory=list)
    notes: Mapping[str, list[dict[str, Any]] | Fault] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    turns: list[ChatRequest] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.may_answer.set()

    async def __call__(self, request: ChatRequest) -> Reply | Fault:
        if [tool.name for tool in request.tools] != ["note_memories"]:
            self.turns.append(request)
            return self.says.pop(0) if self.says else Reply("Done.")
        self.questions.append(request.messages[-1].text)
        self.asked.set()
        assert await asyncio.to_thread(self.may_answer.wait, 20)
        said = request.messages[-1].text.rpartition("<message>")[2]
        found = next((notes for word, notes in self.notes.items() if word in said), [])
        if isinstance(found, Fault):
            return found
        return Reply("", [Call("call_1", "note_memories", {"memories": found})])


def fact(quote: str, replaces: int = 0) -> dict[str, Any]:
    return {"kind": "fact", "quote": quote, "replaces": replaces}


class Remembers(PlatformEngineer):
    """The supervisor, whose work behind its answers a test can wait for."""

    made: ClassVar[list[Remembers]] = []

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        Remembers.made.append(self)


async def idle() -> None:
    """Wait for what all supervisors do behind their answers."""
    learning = [each._remembering._tasks for each in Remembers.made if each._remembering is not None]
    await asyncio.gather(*(task for tasks in learning for task in tasks))


@dataclass
class House:
    """Where the supervisor is, and who may call it."""

    url: str
    keys: Mapping[str, str]
    stack: AsyncExitStack

    async def person(self, name: str) -> Client:
        """A client of a person."""
        headers = {"Authorization": f"Bearer {self.keys[name]}"} if name else {}
        http = await self.stack.enter_async_context(httpx.AsyncClient(headers=headers, timeout=60))
        return await create_client(self.url, ClientConfig(httpx_client=http))


@asynccontextmanager
async def house(home: Path, environ: Mapping[str, str], sub_agents: str = "") -> AsyncIterator[House]:
    """Serve the supervisor in a folder, in which the keys stay from one start to the next."""
    file, keys = KeyFile(home / "keys.json"), dict[str, str]()
    for name in ("ann", "bob"):
        secret = home / f"{name}.key"
        if not secret.exists():
            text, key = new_key(ApiKey(name, "", ("agent:platform-engineer:use",)))
            file.add(key)
            secret.write_text(text)
        keys[name] = secret.read_text()
    below = {"SUB_AGENTS": sub_agents} if sub_agents else NOBODY
    told = {**ON, "AUTH_KEYS_FILE": str(home / "keys.json"), **below, **environ}
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(running_agent(Remembers, home=home / "data", environ=told))
        yield House(url, keys, stack)
    Remembers.made.clear()


NOBODY = {"SUB_AGENTS": "nobody=http://127.0.0.1:9", "SUB_AGENT_WAIT_SECONDS": "0"}


async def asked(client: Client, **payload: Any) -> list[dict[str, Any]]:
    """What is remembered, as the extension tells it."""
    value = struct_pb2.Value()
    json_format.ParseDict({URI: payload}, value)
    message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(data=value)])
    (answer,) = [each async for each in client.send_message(SendMessageRequest(message=message))]
    assert answer.WhichOneof("payload") == "message"
    sentence, data = answer.message.parts
    assert sentence.text
    memories: list[dict[str, Any]] = json_format.MessageToDict(data.data)[URI]["memories"]
    return memories


async def texts(client: Client, kind: str = "fact") -> list[str]:
    """The words of the memories of a kind."""
    return [each["text"] for each in await asked(client, action="list") if each["kind"] == kind]
