"""Files of sub-agents reach the supervisor's user: as artifacts of its own task, bounded, clean, each of them once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import Artifact, GetTaskRequest, Message, Part, Role, StreamResponse, Task, TaskState
from google.protobuf import json_format
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.contract.test_conformance import foreign
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.delegation.test_files import invoices, returning
from tests.e2e.wire.agents import Script, Stage
from tests.e2e.wire.test_own_artifacts import CONTENT, Clerk, fetching
from tests.e2e.wire.ways import WAYS, Served, answer, asking, served
from utils.a2a_common.protocol.artifact_limits import MOST_BYTES
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

PDF = Part(raw=CONTENT, filename="invoice.pdf", media_type="application/pdf")


def delegating(request: str = "Fetch invoice 42") -> ScriptedModel:
    return ScriptedModel.of(calls(call("invoices", request=request)), "Here it is.")


@asynccontextmanager
async def supervisor(agent: str, model: ScriptedModel, home: Path) -> AsyncIterator[Served]:
    """A supervisor over one agent, ready for work."""
    async with served(PlatformEngineer, model, home, SUB_AGENTS=f"invoices={agent}") as place:
        await until_ready(place.url)
        yield place


async def passed(script: Script, home: Path, model: ScriptedModel | None = None) -> Task:
    """The supervisor's task over an agent that plays this script."""
    async with (
        foreign(script, invoices) as agent,
        supervisor(agent, model or delegating(), home) as place,
        place.client(WAYS[0]) as client,
    ):
        events = await answer(client, asking("Fetch invoice 42"))
        return await client.get_task(GetTaskRequest(id=events[0].task.id))


def files(task: Task) -> list[Artifact]:
    return [each for each in task.artifacts if each.name not in ("response", "plan")]


def words(task: Task) -> str:
    found = [each for each in task.artifacts if each.name == "response"]
    return "".join(part.text for each in found for part in each.parts)


def streamed_files(events: Sequence[StreamResponse]) -> list[Artifact]:
    updates = [event.artifact_update.artifact for event in events if event.HasField("artifact_update")]
    return [each for each in updates if each.name not in ("response", "plan")]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_the_files_of_a_sub_agent_reach_the_user_of_any_client_as_they_are(way, tmp_path: Path) -> None:
    async with (
        running_agent(Clerk, model=fetching()) as agent,
        supervisor(agent, delegating("invoice"), tmp_path) as place,
        place.client(way) as client,
    ):
        events = await answer(client, asking("Fetch it"))
        stored = await client.get_task(GetTaskRequest(id=events[0].task.id))
    for found in (streamed_files(events), files(stored)):
        pdf, terms = found
        assert pdf.parts[0].raw == CONTENT
        assert (pdf.name, pdf.parts[0].media_type) == ("invoice 42.pdf", "application/pdf")
        assert terms.parts[0].url == "https://files.example/42/terms.txt"
        origins = [json_format.MessageToDict(each.metadata)[ARTIFACT_EXTENSION]["origin"] for each in found]
        assert origins == ["invoices", "invoices"]
    assert words(stored).startswith("Here it is.")
    assert f"- `invoice 42.pdf` (application/pdf, {len(CONTENT)} bytes), from invoices" in words(stored)
    assert "- `terms.txt` (text/plain), from invoices: https://files.example/42/terms.txt" in words(stored)


async def test_the_model_is_told_of_a_file_and_never_shown_it(tmp_path: Path) -> None:
    model = delegating()
    await passed(returning(("invoice", [PDF])), tmp_path, model)
    told = str(model.requests[1].messages[-1].content)
    assert f'"invoice.pdf" (application/pdf, {len(CONTENT)} bytes) is attached' in told
    assert "bytes are bytes" not in str(model.requests)


async def test_the_file_of_a_bare_message_is_passed_on(tmp_path: Path) -> None:
    async def script(stage: Stage) -> None:
        message = Message(message_id="m", role=Role.ROLE_AGENT, parts=[Part(text="Here."), PDF])
        await stage.queue.enqueue_event(message)

    (file,) = files(await passed(script, tmp_path))
    assert file.parts[0].raw == CONTENT


async def test_a_hostile_agent_chooses_neither_paths_nor_types_nor_how_much_is_passed_on(
    tmp_path: Path,
) -> None:
    model = delegating()
    bad = [
        Part(raw=b"1", filename="../../.ssh/authorized_keys", media_type="text/html\r\nX: y"),
        Part(raw=b"2", filename="C:\\Windows\\nul", media_type="a/b"),
        Part(raw=b"3", filename="fdp\u202egpj.exe"),
        Part(url="javascript:alert(1)", filename="a.txt"),
        Part(raw=b"4", filename="`[x](y)` ![z]\n# " + "ü" * 500 + ".pdf"),
        *(Part(raw=b"%d" % number, filename=f"{number}.txt") for number in range(30)),
    ]
    task = await passed(returning(("files", bad)), tmp_path, model)
    names = [each.name for each in files(task)]
    assert len(names) == 20
    assert names[:3] == ["authorized_keys", "_nul", "fdpgpj.exe"]
    assert names[3].startswith("_[x](y)_ ![z] # ü") or names[3].startswith("y)_ ![z] # ü")
    assert names[3].endswith("ü.pdf")
    assert len(names[3].encode()) <= 200
    assert [each.parts[0].filename for each in files(task)] == names
    assert {each.parts[0].media_type for each in files(task)} == {"application/octet-stream", "a/b"}
    assert "javascript" not in words(task)
    assert "The user is given the first 20 of these 34 files." in str(model.requests[1].messages[-1].content)


async def test_files_beyond_what_a_task_holds_are_named_and_the_answer_stays(tmp_path: Path) -> None:
    model = delegating()
    half = MOST_BYTES // 2
    large = [
        Part(raw=b"a" * half, filename="a.bin"),
        Part(raw=b"b" * (MOST_BYTES + 1), filename="b.bin"),
        Part(raw=b"c" * half, filename="c.bin"),
        Part(raw=b"d", filename="d.bin"),
    ]

    async def script(stage: Stage) -> None:
        for number, part in enumerate(large):
            await returning_one(stage, f"{number}", part, last=number == len(large) - 1)

    task = await passed(script, tmp_path, model)
    assert [each.name for each in files(task)] == ["a.bin", "c.bin"]
    assert task.status.state == TaskState.TASK_STATE_COMPLETED
    assert words(task).startswith("Here it is.")
    assert '"d.bin"' in words(task)
    assert "was not returned: the artifacts of a task have at most 3,000,000 bytes together." in words(task)
    assert (
        '"b.bin" (application/octet-stream, 3,000,001 bytes) has more than 3,000,000 bytes and is not'
        in str(model.requests[1].messages[-1].content)
    )


async def returning_one(stage: Stage, name: str, part: Part, *, last: bool) -> None:
    """One artifact; the task ends with the last."""
    from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent

    await stage.task() if name == "0" else None
    artifact = Artifact(artifact_id=name, name=name, parts=[part])
    await stage.queue.enqueue_event(
        TaskArtifactUpdateEvent(
            task_id=stage.context.task_id, context_id=stage.context.context_id, artifact=artifact
        )
    )
    if last:
        await stage.status(TaskState.TASK_STATE_COMPLETED)


async def test_a_file_by_address_is_passed_on_as_an_address_and_never_fetched(tmp_path: Path) -> None:
    fetched: list[str] = []

    async def trap(request: Request) -> Response:
        fetched.append(str(request.url))
        return Response("secret")

    async with running(Starlette(routes=[Route("/{path:path}", trap)])) as url:
        part = Part(url=f"{url}/report.csv", filename="report.csv", media_type="text/csv")
        (file,) = files(await passed(returning(("report", [part])), tmp_path))
        assert file.parts[0].url == f"{url}/report.csv"
        assert not file.parts[0].raw
    assert fetched == []


async def asks_in_between(stage: Stage) -> None:
    """Returns a file, asks, and returns a second file."""
    if stage.context.current_task is None:
        await returning_one(stage, "0", PDF, last=False)
        await stage.status(TaskState.TASK_STATE_INPUT_REQUIRED)
    else:
        second = Part(raw=b"second", filename="second.txt", media_type="text/plain")
        await returning_one(stage, "1", second, last=True)


async def test_a_file_is_passed_on_once_though_a_question_and_a_restart_come_between(tmp_path: Path) -> None:
    model = ScriptedModel.of(calls(call("invoices", request="Fetch invoice 42")), "Here it is.")
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(foreign(asks_in_between, invoices))
        async with supervisor(agent, model, tmp_path) as place, place.client(WAYS[0]) as client:
            first = await answer(client, asking("Fetch invoice 42"))
            assert [each.name for each in streamed_files(first)] == ["invoice.pdf"]
        async with supervisor(agent, model, tmp_path) as place, place.client(WAYS[0]) as client:
            second = await answer(client, asking("The second", task_id=first[0].task.id))
            stored = await client.get_task(GetTaskRequest(id=first[0].task.id))
    assert stored.status.state == TaskState.TASK_STATE_COMPLETED
    assert [each.name for each in streamed_files(second)] == ["second.txt"]
    assert [each.name for each in files(stored)] == ["invoice.pdf", "second.txt"]
    assert files(stored)[0].parts[0].raw == CONTENT
    assert "`invoice.pdf`" in words(stored)
    assert "`second.txt`" in words(stored)


async def test_a_file_that_the_users_client_does_not_accept_is_named_and_not_sent(tmp_path: Path) -> None:
    async with (
        foreign(returning(("invoice", [PDF])), invoices) as agent,
        supervisor(agent, delegating(), tmp_path) as place,
        place.client(WAYS[0]) as client,
    ):
        events = await answer(client, asking("Fetch invoice 42", accepts=["text/plain"]))
        stored = await client.get_task(GetTaskRequest(id=events[0].task.id))
    assert files(stored) == streamed_files(events) == []
    assert 'The file "invoice.pdf"' in words(stored)
    assert "was left out" in words(stored)
    assert "Files:" not in words(stored)
