"""What an agent's calls and its start cost over a full store beside an empty one: `python -m benchmarks.growth [STORE=sqlite] [TASKS=10000] [CONVERSATIONS=1000]`.

The tasks, and conversations of 200 messages, are written into the store directly, all of the one anonymous owner, so that a list goes
over all of them. Each call is made over HTTP, to an agent in this process; both stores are asked in turns, so that what else the
machine does weighs on both. `STORE=postgresql` starts a server of the tests.
"""

from __future__ import annotations

import asyncio
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import structlog
from a2a.client import Client, ClientConfig, create_client
from a2a.server.context import ServerCallContext
from a2a.types import a2a_pb2 as pb
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from tests.postgres import running_server
from utils.a2a_common import AgentRuntime, BaseLangGraphAgent, Skill
from utils.a2a_common.client.transport.connection import http_client
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.a2a_common.server.commands.database import further_tables
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.postgres.opening import open_database
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

MESSAGES = 200
ROUNDS = 40
STARTS = 5
AT_ONCE = 64
TEXT = "A paragraph of an answer, as long as such things are. " * 10


class Echo(BaseLangGraphAgent):
    """Answers with one sentence."""

    name = "echo"
    description = "Echoes."
    skills = (Skill("echo", "Echo", "Echoes."),)

    def system_prompt(self) -> str:
        """Nothing to decide."""
        return "Answer."


Call = Callable[[Client], Awaitable[None]]


async def send(client: Client) -> None:
    """A turn in a new conversation."""
    message = pb.Message(message_id=str(uuid4()), role=pb.Role.ROLE_USER, parts=[pb.Part(text="Hello.")])
    async for _ in client.send_message(pb.SendMessageRequest(message=message)):
        pass


async def list_tasks(client: Client) -> None:
    """The first page of the owner's tasks."""
    await client.list_tasks(pb.ListTasksRequest(page_size=50))


async def get_task(client: Client) -> None:
    """One task of those that were written first."""
    await client.get_task(pb.GetTaskRequest(id="task-0"))


CALLS: Mapping[str, Call] = {"SendMessage": send, "GetTask": get_task, "ListTasks": list_tasks}


async def fill(runtime: AgentRuntime, tasks: int, conversations: int) -> None:
    """Write tasks, and the states of conversations."""
    log = TaskLog(runtime.stores.task_log())
    await log.open()
    owner, limit = owner_of(ServerCallContext()), asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with limit:
            await _task(log, owner, f"task-{number}", f"context-{number % max(1, conversations)}")

    await asyncio.gather(*map(one, range(tasks)))
    await log.close()
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda _: {})
    builder.add_edge(START, "model")
    builder.add_edge("model", END)
    graph = builder.compile(checkpointer=runtime.checkpointer)
    said: list[AnyMessage] = [
        AIMessage(TEXT) if number % 2 else HumanMessage(TEXT) for number in range(MESSAGES)
    ]
    for number in range(conversations):
        await graph.aupdate_state({"configurable": {"thread_id": f"thread-{number}"}}, {"messages": said})


async def _task(log: TaskLog, owner: str, task_id: str, context_id: str) -> None:
    writer = await log.claim(task_id, owner)
    message = pb.Message(
        message_id=f"m-{task_id}",
        role=pb.Role.ROLE_USER,
        parts=[pb.Part(text=TEXT)],
        task_id=task_id,
        context_id=context_id,
    )
    status = pb.TaskStatus(state=pb.TaskState.TASK_STATE_SUBMITTED)
    await writer.append(pb.Task(id=task_id, context_id=context_id, status=status, history=[message]))
    artifact = pb.Artifact(artifact_id="response", name="response", parts=[pb.Part(text=TEXT)])
    await writer.append(pb.TaskArtifactUpdateEvent(artifact=artifact, task_id=task_id, context_id=context_id))
    status = pb.TaskStatus(state=pb.TaskState.TASK_STATE_COMPLETED)
    status.timestamp.GetCurrentTime()
    await writer.append(pb.TaskStatusUpdateEvent(status=status, task_id=task_id, context_id=context_id))
    writer.release()


@asynccontextmanager
async def _served(home: Path, environ: Mapping[str, str]) -> AsyncIterator[Client]:
    model = ScriptedModel(script=lambda _: "Hello there.")
    async with running_agent(Echo, environ=environ, model=model, home=home) as url, http_client(url) as http:
        yield await create_client(url, ClientConfig(httpx_client=http, streaming=False))


async def _prepared(home: Path, environ: Mapping[str, str], tasks: int, conversations: int) -> None:
    async with AsyncExitStack() as stack:
        settings = AgentSettings.load({"PLATFORM_ENGINEER_HOME": str(home), **environ})
        database = await open_database(
            settings.database, Echo.name, stack, alone=True, on_lost=lambda _: None, further=further_tables()
        )
        runtime = await open_runtime(Echo.name, settings, stack, model=None, database=database)
        await fill(runtime, tasks, conversations)


async def _started(home: Path, environ: Mapping[str, str]) -> float:
    began = time.perf_counter()
    async with _served(home, environ):
        return time.perf_counter() - began


async def measure(store: str, tasks: int, conversations: int) -> str:
    """The last line: each call's median over the full store, as a multiple of that over the empty one."""
    async with AsyncExitStack() as stack:
        homes = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        environs: list[dict[str, str]] = [{}, {}]
        if store == "postgresql":
            server = stack.enter_context(running_server())
            environs = [{"DATABASE_URL": await server.migrated(Echo.name)} for _ in range(2)]
        for home, environ, count in zip(homes, environs, ((1, 0), (tasks, conversations)), strict=True):
            began = time.perf_counter()
            await _prepared(home, environ, *count)
            print(
                f"{count[0]:,} tasks and {count[1]:,} conversations in {time.perf_counter() - began:.0f} s",
                flush=True,
            )
        starts = [
            [await _started(*each) for each in zip(homes, environs, strict=True)] for _ in range(STARTS)
        ]
        ratios = {"start": _ratio(starts)}
        clients = [
            await stack.enter_async_context(_served(*each)) for each in zip(homes, environs, strict=True)
        ]
        for name, call in CALLS.items():
            rounds = [[await _timed(call, client) for client in clients] for _ in range(ROUNDS)]
            ratios[name] = _ratio(rounds)
            empty, full = (statistics.median(each) * 1000 for each in zip(*rounds, strict=True))
            print(f"  {name:12} {empty:7.1f} ms, full {full:7.1f} ms", flush=True)
    return f"store={store} " + " ".join(f"{name}={ratio:.2f}" for name, ratio in ratios.items())


def _ratio(rounds: Sequence[Sequence[float]]) -> float:
    empty, full = (float(statistics.median(each)) for each in zip(*rounds, strict=True))
    return full / empty


async def _timed(call: Call, client: Client) -> float:
    began = time.perf_counter()
    await call(client)
    return time.perf_counter() - began


def main(arguments: Sequence[str]) -> None:
    """Measure one store."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    given = dict(each.split("=", 1) for each in arguments)
    tasks, conversations = int(given.get("TASKS", "10000")), int(given.get("CONVERSATIONS", "1000"))
    print(asyncio.run(measure(given.get("STORE", "sqlite"), tasks, conversations)))


if __name__ == "__main__":
    main(sys.argv[1:])
