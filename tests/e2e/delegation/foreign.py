"""A sub-agent that nobody here wrote: the SDK's own server, which keeps everything that it was sent."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.e2e.cli.scripted_agent import Script, ScriptedAgent, Turn
from utils.a2a_common.protocol.extensions import SCOPE_EXTENSION
from utils.testing.live_server import loopback_socket, running

JSON = ("text/plain", "application/json")
TEXT = ("text/plain",)


class Ear:
    """Notes headers and bodies of the requests that an application gets."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.headers: list[str] = []
        self.bodies: list[Any] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""

        async def noted() -> Message:
            nonlocal body
            message = await receive()
            body += message.get("body", b"")
            if body and not message.get("more_body"):
                self.bodies.append(json.loads(body))
                body = b""
            return message

        self.headers += [value.decode("latin-1") for _, value in scope.get("headers", ())]
        await self._app(scope, noted, send)


@dataclass(frozen=True)
class Foreign:
    """What a test holds of a foreign agent."""

    url: str
    ear: Ear

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The A2A messages that it was sent, in order."""
        return [body["params"]["message"] for body in self.ear.bodies if "message" in body.get("params", {})]

    def scope(self, number: int = -1) -> dict[str, Any] | None:
        """The scope of a delegation that came with a message."""
        data = [part["data"] for part in self.messages[number]["parts"] if "data" in part]
        return next((part[SCOPE_EXTENSION] for part in data if SCOPE_EXTENSION in part), None)

    @property
    def strings(self) -> set[str]:
        """Everything that it was sent, in headers and bodies: whole values, and what they are made of."""
        found = {*self.ear.headers, *_strings(self.ear.bodies)}
        pieces = {piece for text in found for piece in re.split(r"[^0-9A-Za-z-]+", text)}
        return found | pieces | {piece for text in found for piece in re.findall(r"[0-9a-f]{16,}", text)}


@asynccontextmanager
async def foreign(
    script: Script,
    *,
    modes: Sequence[str] = JSON,
    extensions: Sequence[str] = (SCOPE_EXTENSION,),
    description: str = "Tells the weather.",
    skill: str = "S",
    sign: Callable[[AgentCard], object] = lambda _card: None,
    behind: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> AsyncIterator[Foreign]:
    """Serve it; parts of other media types than `modes` are refused. `sign` may sign the card, and change it then;
    `behind` is what stands before it.
    """
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = AgentCard(
        name="github",  # what a card says of itself makes nobody ours
        description=description,
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(
            streaming=True, extensions=[AgentExtension(uri=uri) for uri in extensions]
        ),
        default_input_modes=list(modes),
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="s", name=skill, description="Something.", tags=["s"])],
    )
    sign(card)
    handler = DefaultRequestHandler(
        agent_executor=ScriptedAgent(script),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        validate_input_modes=True,
    )
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
    ear = Ear(Starlette(routes=routes))
    async with running(behind(ear), listener=listener):
        yield Foreign(url, ear)
        await handler.aclose()


def answering(text: str) -> Script:
    """Completes each task with a text."""

    async def script(turn: Turn) -> None:
        await turn.task()
        await turn.chunk(text, append=False, last=True)
        await turn.status("completed")

    return script


def ending(state: str, text: str, metadata: dict[str, Any] | None = None) -> Script:
    """Ends each task in a state, with a text."""

    async def script(turn: Turn) -> None:
        await turn.task()
        await turn.status(state, text, metadata)

    return script


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    else:
        yield str(value)
