"""A served agent and a client with a word for each operation."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
from a2a.types.a2a_pb2 import AgentCard
from starlette.applications import Starlette
from starlette.middleware import Middleware

from tests.e2e.wire.agents import Script, Scripted, card
from tests.support.task_logs import memory_log
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.runs import MemoryRuns, RunStore
from utils.settings import ServerSettings
from utils.testing.live_server import running

HEADERS = {"A2A-Version": "1.0"}


def message(text: str = "hi", **fields: Any) -> dict[str, Any]:
    return {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": text}], **fields}


class Wire:
    """One server, and raw HTTP to it."""

    def __init__(self, url: str, http: httpx.AsyncClient, app: Starlette, agent: Scripted) -> None:
        self.url = url
        self.http = http
        self.app = app
        self.agent = agent

    async def rpc(
        self, method: str, params: Any = None, headers: Mapping[str, str] = HEADERS
    ) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
        answer = await self.http.post(f"{self.url}/", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        decoded: dict[str, Any] = answer.json()
        return decoded

    async def send(self, headers: Mapping[str, str] = HEADERS, **fields: Any) -> dict[str, Any]:
        answer = await self.rpc("SendMessage", {"message": message(**fields)}, headers)
        task: dict[str, Any] = answer["result"]["task"] if "result" in answer else answer
        return task

    async def start(self, **fields: Any) -> dict[str, Any]:
        """Send and return at once."""
        params = {"message": message(**fields), "configuration": {"returnImmediately": True}}
        task: dict[str, Any] = (await self.rpc("SendMessage", params))["result"]["task"]
        return task

    async def get(self, task_id: str) -> dict[str, Any]:
        task: dict[str, Any] = (await self.rpc("GetTask", {"id": task_id}))["result"]
        return task

    @asynccontextmanager
    async def events(
        self, method: str, params: Any, headers: Mapping[str, str] = HEADERS
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        async with self.http.stream("POST", f"{self.url}/", json=body, headers=headers) as answer:
            yield _events(answer)

    async def stream(self, headers: Mapping[str, str] = HEADERS, **fields: Any) -> list[dict[str, Any]]:
        async with self.events("SendStreamingMessage", {"message": message(**fields)}, headers) as events:
            return [event async for event in events]


async def _events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            decoded = json.loads(line[5:])
            yield decoded.get("result", decoded)


async def ready() -> Readiness:
    return Readiness(ready=True)


@asynccontextmanager
async def serving(
    script: Script,
    *,
    log: TaskLog | None = None,
    runs: RunStore | None = None,
    shown: AgentCard | None = None,
    settings: Mapping[str, str] | None = None,
    middleware: tuple[Middleware, ...] = (),
    readiness: Any = ready,
    listener: socket.socket | None = None,
    push_configs: PushConfigs | None = None,
    extended: AgentCard | None = None,
    takes_files: bool = False,
    page: bool = False,
    free_bytes: Callable[[], int] | None = None,
) -> AsyncIterator[Wire]:
    agent = Scripted(script)
    service = AgentService(
        card=shown or card(),
        executor=agent,
        log=log or memory_log(),
        runs=runs or MemoryRuns(),
        middleware=middleware,
        readiness=readiness,
        push_configs=push_configs or PushConfigs(),
        extended_card=extended,
        takes_files=takes_files,
        page=page,
        free_bytes=free_bytes,
    )
    app = build_app(service, ServerSettings.load(settings or {}))
    async with (
        running(app, listener=listener) as url,
        httpx.AsyncClient(timeout=60, trust_env=False, verify=False) as http,
    ):
        yield Wire(url, http, app, agent)


def state(task: Mapping[str, Any]) -> str:
    name: str = task["status"]["state"]
    return name.removeprefix("TASK_STATE_").lower()
