"""An agent's own artifacts, a bare message, a rejection and its words while it works, over each binding in each version."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import Artifact, GetTaskRequest, Part, StreamResponse, Task, TaskState
from google.protobuf import json_format
from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, tool

from tests.e2e.wire.ways import WAYS, Way, answer, asking, served
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION, ERROR_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import (
    AgentEvent,
    ArtifactAdded,
    Completed,
    DataPart,
    FileBytes,
    FileUrl,
    MessageAnswer,
    MetadataReported,
    Rejected,
    StatusText,
    TextDelta,
    TextPart,
)
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

CONTENT = b"%PDF-1.7\n\x00\xff\xfe\r\n \xc2\xa0 bytes are bytes"
OWN_URI = "https://billing.example/ext/invoice/v1"
PDF = FileBytes(CONTENT, "invoice 42.pdf", "application/pdf")
TERMS = FileUrl("https://files.example/42/terms.txt", "terms.txt", "text/plain")
EVERYTHING = [
    ArtifactAdded(
        [PDF], name="Invoice", description="The invoice of May.", metadata={OWN_URI: {"number": 42}}
    ),
    ArtifactAdded([TERMS], name="Terms"),
    ArtifactAdded([DataPart({"currency": "EUR", "sum": 42.5})], name="Sum"),
    ArtifactAdded([DataPart([1, {"a": None}, "b"])], name="Rows"),
    ArtifactAdded([TextPart("One."), TextPart("Two.")], name="Notes"),
]


@tool
async def invoice(runtime: ToolRuntime[AgentRequest]) -> str:
    """Fetches the invoice."""
    for event in EVERYTHING:
        runtime.stream_writer(event)
    return "Fetched."


class Clerk(BaseLangGraphAgent):
    """Returns files from a tool, and says other things where it is told to."""

    name = "clerk"
    description = "Fetches invoices."
    output_modes = ("text/markdown", "text/plain", "application/json", "application/pdf")
    answers_with_message = True
    says: Sequence[AgentEvent] = ()

    async def tools(self) -> Sequence[BaseTool]:
        return [invoice]

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        if request.text == "invoice":
            async for event in super().stream(request):
                yield event
        for event in self.says:
            yield event


class Plain(Clerk):
    """An agent of the usual kind: its task exists from the beginning."""

    answers_with_message = False


def fetching() -> ScriptedModel:
    return ScriptedModel.of(calls(call("invoice")), "Here it is.")


async def said(
    client: Client, *, accepts: Sequence[str] = (), text: str = "hi"
) -> tuple[list[StreamResponse], Task]:
    """What came back, and the task as it is stored."""
    events = await answer(client, asking(text, accepts=accepts))
    return events, await client.get_task(GetTaskRequest(id=events[0].task.id))


def own(artifacts: Sequence[Artifact]) -> dict[str, Artifact]:
    return {each.name: each for each in artifacts if each.name not in ("response", "plan")}


def streamed(events: Sequence[StreamResponse]) -> dict[str, Artifact]:
    """The artifacts as a client joins them."""
    found: dict[str, Artifact] = {}
    for event in events:
        if event.HasField("artifact_update"):
            update = event.artifact_update
            if update.append:
                found[update.artifact.artifact_id].parts.extend(update.artifact.parts)
            else:
                found[update.artifact.artifact_id] = update.artifact
    return own(list(found.values()))


def value(part: Part) -> Any:
    return json_format.MessageToDict(part.data)


def check_everything(artifacts: dict[str, Artifact], way: Way) -> None:
    assert list(artifacts) == ["Invoice", "Terms", "Sum", "Rows", "Notes"]
    pdf, terms = artifacts["Invoice"].parts[0], artifacts["Terms"].parts[0]
    assert pdf.raw == CONTENT
    assert (pdf.media_type, terms.media_type, terms.url) == ("application/pdf", "text/plain", TERMS.url)
    if way != Way("GRPC", "0.3"):  # its files have no name
        assert (pdf.filename, terms.filename) == ("invoice 42.pdf", "terms.txt")
    assert artifacts["Invoice"].description == "The invoice of May."
    metadata = json_format.MessageToDict(artifacts["Invoice"].metadata)
    assert metadata[OWN_URI] == {"number": 42}
    assert metadata[ARTIFACT_EXTENSION]["bytes"] == len(CONTENT)
    assert value(artifacts["Sum"].parts[0]) == {"currency": "EUR", "sum": 42.5}
    assert value(artifacts["Rows"].parts[0]) == [1, {"a": None}, "b"]
    assert [part.text for part in artifacts["Notes"].parts] == ["One.", "Two."]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_files_data_and_text_of_a_tool_reach_a_client_as_they_are_and_are_stored(
    way: Way, tmp_path: Path
) -> None:
    async with served(Clerk, fetching(), tmp_path) as place, place.client(way) as client:
        events, stored = await said(client, text="invoice")
        check_everything(streamed(events), way)
        check_everything(own(stored.artifacts), way)
        assert stored.status.state == TaskState.TASK_STATE_COMPLETED
    async with served(Clerk, fetching(), tmp_path) as place, place.client(way, streaming=False) as client:
        again = await client.get_task(GetTaskRequest(id=stored.id))
        check_everything(own(again.artifacts), way)
        events = await answer(client, asking("invoice"))
        check_everything(own(events[0].task.artifacts), way)


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "unary"])
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_answer_may_be_one_message_and_no_task(way: Way, streaming: bool, tmp_path: Path) -> None:
    Clerk.says = [MessageAnswer([TextPart("Pong."), PDF, DataPart([7])], {OWN_URI: {"number": 1}})]
    async with served(Clerk, fetching(), tmp_path) as place, place.client(way, streaming=streaming) as client:
        events = await answer(client, asking("ping"))
    assert [event.WhichOneof("payload") for event in events] == ["message"]
    message = events[0].message
    assert [message.parts[0].text, message.parts[1].raw, value(message.parts[2])] == ["Pong.", CONTENT, [7]]
    assert json_format.MessageToDict(message.metadata)[OWN_URI] == {"number": 1}
    assert message.context_id


async def test_a_message_where_a_task_exists_already_completes_it(tmp_path: Path) -> None:
    Plain.says = [MessageAnswer([TextPart("Pong.")])]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        _, stored = await said(client)
    assert stored.status.state == TaskState.TASK_STATE_COMPLETED
    assert stored.status.message.parts[0].text == "Pong."


async def test_an_agent_that_may_answer_with_a_message_has_a_task_as_soon_as_it_says_something_else(
    tmp_path: Path,
) -> None:
    Clerk.says = [TextDelta("Hello."), Completed()]
    async with served(Clerk, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        events, stored = await said(client)
    assert events[0].task.status.state == TaskState.TASK_STATE_SUBMITTED
    assert stored.status.state == TaskState.TASK_STATE_COMPLETED
    assert stored.artifacts[0].parts[0].text == "Hello."


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_rejection_carries_its_reason(way: Way, tmp_path: Path) -> None:
    Plain.says = [Rejected("I only order food on weekdays.")]
    async with served(Plain, fetching(), tmp_path) as place, place.client(way) as client:
        events, stored = await said(client)
    for status in (events[-1].status_update.status, stored.status):
        assert status.state == TaskState.TASK_STATE_REJECTED
        assert status.message.parts[0].text == "I only order food on weekdays."
    error = json_format.MessageToDict(stored.metadata)[ERROR_EXTENSION]
    assert (error["code"], error["retryable"]) == ("rejected", False)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_words_while_it_works_and_metadata_under_an_extension_reach_the_client(
    way: Way, tmp_path: Path
) -> None:
    Plain.says = [
        StatusText("Looking into the archive."),
        MetadataReported(OWN_URI, {"number": 3}),
        Completed(),
    ]
    async with served(Plain, fetching(), tmp_path) as place, place.client(way) as client:
        events, stored = await said(client)
    updates = [event.status_update for event in events if event.HasField("status_update")]
    words = [part.text for update in updates for part in update.status.message.parts]
    assert words == ["Looking into the archive."]
    assert OWN_URI in {uri for update in updates for uri in update.metadata}
    assert json_format.MessageToDict(stored.metadata)[OWN_URI] == {"number": 3}


async def test_words_while_it_works_do_not_make_the_history_grow_without_end(tmp_path: Path) -> None:
    Plain.says = [*(StatusText(f"Step {number}") for number in range(500)), Completed()]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        _, stored = await said(client)
    assert len(stored.history) <= 102
    assert stored.status.state == TaskState.TASK_STATE_COMPLETED


@pytest.mark.parametrize(
    ("accepts", "names"),
    [
        ([], {"Invoice", "Terms", "Sum", "Rows", "Notes"}),
        (["text/plain"], {"Terms", "Notes"}),
        (["application/pdf", "text/markdown"], {"Invoice", "Notes"}),
        (["application/*"], {"Invoice", "Sum", "Rows"}),
    ],
    ids=lambda value: str(sorted(value)),
)
async def test_parts_that_a_client_does_not_accept_are_left_out_and_named(
    accepts: list[str], names: set[str], tmp_path: Path
) -> None:
    async with served(Clerk, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        events, stored = await said(client, accepts=accepts, text="invoice")
    assert set(streamed(events)) == set(own(stored.artifacts)) == names
    assert stored.status.state == TaskState.TASK_STATE_COMPLETED
    texts = [part.media_type for each in stored.artifacts for part in each.parts if part.text]
    if accepts == ["application/*"]:
        assert texts == []
    else:
        answered = next(each for each in stored.artifacts if each.name == "response").parts[0].text
        assert ("invoice 42.pdf" in answered) == ("Invoice" not in names)
    if accepts == ["text/plain"]:
        assert set(texts) == {"text/plain"}


async def test_a_client_that_accepts_nothing_of_an_answer_is_told_so(tmp_path: Path) -> None:
    Plain.says = [TextDelta("Only words."), Completed()]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        _, stored = await said(client, accepts=["application/pdf"])
    assert stored.status.state == TaskState.TASK_STATE_FAILED
    assert json_format.MessageToDict(stored.metadata)[ERROR_EXTENSION]["code"] == "output_not_accepted"
    assert not stored.artifacts


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_file_as_large_as_a_task_takes_goes_over_each_binding_and_a_larger_one_is_named(
    way: Way, tmp_path: Path
) -> None:
    whole, beyond = bytes(range(256)) * 11_718, b"x" * 10_000
    Plain.says = [
        ArtifactAdded([FileBytes(whole, "whole.bin")]),
        ArtifactAdded([FileBytes(beyond, "beyond.bin")]),
        TextDelta("Done."),
        Completed(),
    ]
    async with served(Plain, fetching(), tmp_path) as place, place.client(way) as client:
        events, stored = await said(client)
    assert streamed(events)[""].parts[0].raw == whole
    assert own(stored.artifacts)[""].parts[0].raw == whole
    assert len(own(stored.artifacts)) == 1
    answered = next(each for each in stored.artifacts if each.name == "response").parts[0].text
    assert '"beyond.bin" (application/octet-stream, 10,000 bytes) was not returned' in answered
    assert json_format.MessageToDict(stored.metadata)[ERROR_EXTENSION]["code"] == "left_out"


async def test_long_text_comes_in_chunks_and_its_parts_stay_apart(tmp_path: Path) -> None:
    parts = ["a" * 100_000, "b" * 250_001, "c", "d" * 99_999]
    Plain.says = [ArtifactAdded([TextPart(text) for text in parts], name="Book"), Completed()]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        events, stored = await said(client)
    pieces = [event.artifact_update for event in events if event.HasField("artifact_update")]
    assert len(pieces) > 4
    assert max(len(part.text) for piece in pieces for part in piece.artifact.parts) <= 100_000
    assert [piece.append for piece in pieces] == [False] + [True] * (len(pieces) - 1)
    assert [piece.last_chunk for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert [part.text for part in own(stored.artifacts)["Book"].parts] == parts


async def test_the_same_artifact_twice_is_one_and_one_with_the_same_id_replaces_the_other(
    tmp_path: Path,
) -> None:
    Plain.says = [
        ArtifactAdded([TextPart("Same.")], name="Twice"),
        ArtifactAdded([TextPart("Same.")], name="Twice"),
        ArtifactAdded([TextPart("Draft.")], name="Report", id="report"),
        ArtifactAdded([TextPart("Final.")], name="Report", id="report"),
        Completed(),
    ]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        _, stored = await said(client)
    assert [(each.name, each.parts[0].text) for each in stored.artifacts] == [
        ("Twice", "Same."),
        ("Report", "Final."),
    ]


@pytest.mark.parametrize(
    "wrong", [ArtifactAdded([]), ArtifactAdded([DataPart(object())]), ArtifactAdded([PDF], id="plan")]
)
async def test_an_artifact_that_cannot_be_sent_fails_the_task_and_shows_nothing(
    wrong: ArtifactAdded, tmp_path: Path
) -> None:
    Plain.says = [wrong, TextDelta("Done."), Completed()]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        _, stored = await said(client)
    assert stored.status.state == TaskState.TASK_STATE_FAILED
    assert stored.status.message.parts[0].text.startswith("Internal error in the agent.")


async def test_names_of_files_are_safe(tmp_path: Path) -> None:
    Plain.says = [ArtifactAdded([FileBytes(b"x", "../../etc/pass\u202ewd\n")]), Completed()]
    async with served(Plain, fetching(), tmp_path) as place, place.client(WAYS[0]) as client:
        _, stored = await said(client)
    assert stored.artifacts[0].parts[0].filename == "passwd"
