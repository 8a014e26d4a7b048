"""What an agent takes of a message: text files and JSON reach its model, other types only where it declares them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import grpc.aio
import pytest
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import ListTasksRequest, Part
from a2a.utils.errors import A2AError, ContentTypeNotSupportedError
from google.protobuf import json_format, struct_pb2
from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, tool
from langgraph.types import interrupt

from tests.e2e.wire.ways import WAYS, Way, answer, asking, served
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, Completed, DataPart, FileBytes, FileUrl, TextDelta, TextPart
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

NOTE = Part(raw="Zürich, 9:14".encode(), filename="note.txt", media_type="text/plain")
IMAGE = Part(raw=b"\x89PNG\r\n", filename="photo.png", media_type="image/png")
PDF = Part(raw=b"%PDF\xff\x00", filename="a.pdf", media_type="application/pdf")
LINK = Part(url="https://files.example/terms.pdf", filename="terms.pdf", media_type="application/pdf")
NOTED = 'The file "note.txt" (text/plain, 13 bytes):\n\nZürich, 9:14'


def data(value: Any) -> Part:
    return Part(data=json_format.ParseDict(value, struct_pb2.Value()))


@tool
async def ask_back() -> str:
    """Asks the user."""
    return f"They said: {interrupt('Which file?')}"


class Reader(BaseLangGraphAgent):
    """An agent that declares nothing about what it takes."""

    name = "reader"
    description = "Reads notes."

    async def tools(self) -> Sequence[BaseTool]:
        return [ask_back]


class PdfReader(Reader):
    """An agent that takes PDF files and nothing else, and says which parts it was given."""

    input_modes = ("text/plain", "application/pdf")
    seen: ClassVar[list[AgentRequest]] = []

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        self.seen.append(request)
        yield TextDelta("Read.")
        yield Completed()


async def shown(tmp_path: Path, *parts: Part | str) -> str:
    """What the model of the reader is given."""
    model = ScriptedModel.of("Read.")
    async with served(Reader, model, tmp_path) as place, place.client(WAYS[0]) as client:
        await answer(client, asking(*parts))
    return str(model.requests[0].messages[-1].content)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_text_file_is_read_and_an_image_is_refused_before_a_turn_begins(
    way: Way, tmp_path: Path
) -> None:
    model = ScriptedModel.of("Read.")
    async with served(Reader, model, tmp_path) as place, place.client(way) as client:
        with pytest.raises((A2AError, A2AClientError, grpc.aio.AioRpcError)) as refused:
            await answer(client, asking("Read this", NOTE, IMAGE))
        if way == Way("HTTP+JSON", "0.3"):  # the SDK's client of it shows the status alone
            assert "HTTP Error 400" in str(refused.value)
        else:
            assert "parts[2] is of type image/png" in str(refused.value)
        assert model.requests == []
        async with place.client(Way("JSONRPC", "1.0")) as listing:
            assert (await listing.list_tasks(ListTasksRequest())).total_size == 0
        await answer(client, asking("Read this", NOTE))
    told = str(model.requests[0].messages[-1].content)
    if way == Way("GRPC", "0.3"):  # its files have no name
        assert told.endswith("Zürich, 9:14")
    else:
        assert told == f"Read this\n\n{NOTED}"


async def test_a_message_may_be_a_file_alone(tmp_path: Path) -> None:
    assert await shown(tmp_path, NOTE) == NOTED


async def test_every_kind_of_data_reaches_the_model(tmp_path: Path) -> None:
    values = [{"a": [1]}, [1, "b"], "word", 7, True, None]
    told = await shown(tmp_path, "Sum up", *(data(value) for value in values))
    lines = ['{"a": [1]}', '[1, "b"]', '"word"', "7", "true", "null"]
    assert told == "\n\n".join(["Sum up", *(f"Data (application/json):\n\n{line}" for line in lines)])


async def test_what_an_extension_says_is_not_shown_to_the_model(tmp_path: Path) -> None:
    assert await shown(tmp_path, "hi", data({CONTEXT_EXTENSION: {"clear": False}})) == "hi"


async def test_the_address_of_a_file_is_told_and_not_fetched(tmp_path: Path) -> None:
    link = Part(url='http://127.0.0.1:9/a"b', filename="..\\x\u202e.txt", media_type="text/plain")
    assert (await shown(tmp_path, "Read", link)).splitlines()[2] == (
        'The file "x.txt" (text/plain) stands at "http://127.0.0.1:9/a\\"b".'
    )


async def test_a_file_that_only_says_that_it_is_text_is_named_and_not_shown(tmp_path: Path) -> None:
    broken = Part(raw=b"\xff\xfe\x00", filename="b.txt", media_type="text/plain; charset=utf-8")
    told = await shown(tmp_path, "Read", broken)
    assert told.endswith('"b.txt" (text/plain, 3 bytes) came along; its content is not shown here.')


async def test_an_agent_that_declares_a_type_is_given_its_files_and_nothing_else(tmp_path: Path) -> None:
    PdfReader.seen.clear()
    async with served(PdfReader, ScriptedModel.of(), tmp_path) as place, place.client(WAYS[0]) as client:
        await answer(client, asking("Read", PDF, LINK))
        for refused in (IMAGE, data([1]), Part(raw=b"x"), Part(text="# x", media_type="text/markdown")):
            with pytest.raises(ContentTypeNotSupportedError):
                await answer(client, asking("Read", refused))
        await answer(client, asking("hi", data({CONTEXT_EXTENSION: {"clear": True}})))
    file, link = FileBytes(PDF.raw, "a.pdf", PDF.media_type), FileUrl(LINK.url, "terms.pdf", PDF.media_type)
    assert PdfReader.seen[0].files == [file, link]
    assert PdfReader.seen[0].parts == (TextPart("Read", "text/plain"), file, link)
    assert PdfReader.seen[1].parts[1] == DataPart({CONTEXT_EXTENSION: {"clear": True}})
    assert len(PdfReader.seen) == 2


async def test_a_tool_reads_the_files_of_the_request(tmp_path: Path) -> None:
    found: list[bytes] = []

    @tool
    async def read(runtime: ToolRuntime[AgentRequest]) -> str:
        """Reads the attached file."""
        found.extend(file.content for file in runtime.context.files if isinstance(file, FileBytes))
        return "Read."

    class WithTool(Reader):
        input_modes = ("text/plain", "application/pdf")

        async def tools(self) -> Sequence[BaseTool]:
            return [read]

    model = ScriptedModel.of(calls(call("read")), "Done.")
    async with served(WithTool, model, tmp_path) as place, place.client(WAYS[0]) as client:
        await answer(client, asking("Read", PDF))
    assert found == [PDF.raw]
    assert "came along; its content is not shown here" in str(model.requests[0].messages[-1].content)


async def test_a_file_in_an_answer_to_a_question_reaches_who_asked(tmp_path: Path) -> None:
    model = ScriptedModel.of(calls(call("ask_back")), "Done.")
    async with served(Reader, model, tmp_path) as place, place.client(WAYS[0]) as client:
        events = await answer(client, asking("Read"))
        await answer(client, asking("This one", NOTE, data([1]), task_id=events[0].task.id))
    told = str(model.requests[1].messages[-1].content)
    assert told == f"They said: This one\n\n{NOTED}\n\nData (application/json):\n\n[1]"
