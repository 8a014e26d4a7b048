"""A tool without `async` runs in a thread of its own, whichever way it is written."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Generator
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.tools import BaseTool, StructuredTool, Tool, tool
from structlog.testing import capture_logs

from utils.a2a_common.graph.tools import thread as tool_thread
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.graph.tools.contained_tool import contained
from utils.a2a_common.graph.tools.plain_tool import PlainTool
from utils.a2a_common.graph.tools.thread import MOST_LEFT, in_own_thread
from utils.a2a_common.tasks.third_party_code import CodeExited, CodeRaised
from utils.errors import ToolTimeout
from utils.messages.results import Items, ToolProblem, dump_result, failure_in, result_in


@tool
def where(number: int) -> str:
    """Tell where it runs."""
    return f"{number} {threading.current_thread().name}"


class Where(BaseTool):
    name: str = "where"
    description: str = "Tells where it runs."

    def _run(self, number: int) -> str:
        return f"{number} {threading.current_thread().name}"


class Managed(BaseTool):
    name: str = "managed"
    description: str = "Tells its manager."

    def _run(self, number: int, run_manager: CallbackManagerForToolRun | None = None) -> str:
        return type(run_manager).__name__


class Leaves(BaseTool):
    name: str = "leaves"
    description: str = "Ends the program."

    def _run(self) -> str:
        raise AssertionError("runs elsewhere")

    async def _arun(self) -> str:
        sys.exit(3)


class Here(BaseTool):
    name: str = "here"
    description: str = "Runs in the event loop."

    def _run(self) -> str:
        raise AssertionError("runs elsewhere")

    async def _arun(self) -> str:
        return threading.current_thread().name


@pytest.mark.parametrize("written", [where, Where()], ids=["function", "class"])
async def test_a_tool_without_async_has_a_thread_of_its_own(written: BaseTool) -> None:
    assert await contained(written).ainvoke({"number": 7}) == "7 tool-where"
    assert written.invoke({"number": 7}) == "7 MainThread"


async def test_a_tool_of_langchains_plain_class_has_one_too_and_a_managed_one_gets_its_manager() -> None:
    plain = Tool("where", lambda text: f"{text} {threading.current_thread().name}", "Tells where it runs.")
    assert await contained(plain).ainvoke("7") == "7 tool-where"
    assert await contained(Managed()).ainvoke({"number": 7}) == "CallbackManagerForToolRun"


async def test_a_class_with_async_that_ends_the_program_ends_its_call_alone() -> None:
    with pytest.raises(CodeExited):
        await contained(Leaves()).ainvoke({})


async def test_a_tool_with_async_stays_in_the_event_loop() -> None:
    assert await contained(Here()).ainvoke({}) == threading.current_thread().name


class EndsMore(BaseException):
    """What a library raises to end more than a call."""


def failing(raised: BaseException) -> list[BaseTool]:
    @tool
    def fail() -> str:
        """Fail."""
        raise raised

    @tool
    async def fail_soon() -> str:
        """Fail in the event loop."""
        await asyncio.sleep(0)
        raise raised

    return [fail, fail_soon]


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (SystemExit(3), CodeExited),
        (ValueError("bad"), ValueError),
        (StopIteration(), RuntimeError),
        (EndsMore("now"), CodeRaised),
        (BaseExceptionGroup("both", [EndsMore("now"), ValueError("bad")]), CodeRaised),
        (GeneratorExit(), CodeRaised),
        (KeyboardInterrupt(), CodeRaised),
        (BaseExceptionGroup("all", [EndsMore("now"), KeyboardInterrupt()]), CodeRaised),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else type(value).__name__,
)
async def test_what_a_function_raises_arrives_and_never_ends_the_program(
    raised: BaseException, told: type[Exception]
) -> None:
    for fail in failing(raised):
        with pytest.raises(told):
            await contained(fail).ainvoke({})


async def test_a_call_that_is_canceled_is_canceled_whatever_it_raises_then() -> None:
    begun = asyncio.Event()

    @tool
    async def clean_up() -> str:
        """Fail while it is canceled."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise EndsMore("now")

    under_way = asyncio.ensure_future(running(contained(clean_up))())
    await begun.wait()
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way


async def test_a_call_that_nobody_runs_any_more_is_closed() -> None:
    class Never:
        def __await__(self) -> Generator[None, None, None]:
            yield

    @tool
    async def wait() -> str:
        """Wait for ever."""
        await Never()
        return "never"

    begun = running(contained(wait))()
    begun.send(None)
    await asyncio.to_thread(begun.close)


def running(written: BaseTool) -> Any:
    """What LangChain runs in a task of its own."""
    assert isinstance(written, StructuredTool)
    assert written.coroutine is not None
    return written.coroutine


async def test_calls_that_hang_take_no_thread_from_others_until_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_thread, "_left", set())
    let_go = threading.Event()

    async def hang() -> Any:
        return await in_own_thread("hang", let_go.wait)

    with capture_logs() as logs:
        for _ in range(MOST_LEFT):
            waiting = asyncio.create_task(hang())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        assert [line["left"] for line in logs if line["event"] == "tool.left_running"][-1] == MOST_LEFT
        with pytest.raises(ToolTimeout, match="50 tool calls that were given up are still running"):
            await in_own_thread("where", int, "7")
    let_go.set()
    async with asyncio.timeout(60):
        while tool_thread._left:
            await asyncio.sleep(0.01)
    assert await in_own_thread("where", int, "7") == 7


ROWS = Items(kind="incidents", items=[{"id": 1}])


@tool
async def written() -> str:
    """List incidents, as JSON that was written of a result type."""
    return dump_result(ROWS)


@tool
def written_in_a_thread() -> str:
    """List incidents in a thread."""
    return dump_result(ROWS)


@tool
async def returned() -> Items:
    """List incidents, as the result type itself."""
    return ROWS


@agent_tool()
async def written_by_an_agent() -> str:
    """List incidents for an agent."""
    return dump_result(ROWS)


@agent_tool()
async def returned_by_an_agent() -> Items:
    """List incidents for an agent."""
    return ROWS


class Written(BaseTool):
    name: str = "written_class"
    description: str = "Lists incidents."

    def _run(self) -> str:
        return dump_result(ROWS)


@pytest.mark.parametrize(
    "listing",
    [
        written,
        written_in_a_thread,
        returned,
        written_by_an_agent.build(),
        returned_by_an_agent.build(),
        Written(),
    ],
    ids=lambda listing: listing.name,
)
async def test_whatever_way_a_tool_gives_a_result_type_its_message_says_which_one_it_is(
    listing: BaseTool,
) -> None:
    message = await contained(listing, "c1").ainvoke(
        {"type": "tool_call", "id": "c1", "name": listing.name, "args": {}}
    )
    assert result_in(message) == ROWS
    assert (message.text, type(message.content)) == (dump_result(ROWS), str)
    assert (message.name, message.tool_call_id, message.artifact) == (listing.name, "c1", None)


async def test_a_failure_that_a_tool_writes_is_one_and_json_of_its_own_is_not() -> None:
    problem = ToolProblem(error="any", message="No.")

    @tool
    async def fails() -> str:
        """Fail."""
        return dump_result(problem)

    @tool
    async def quotes() -> str:
        """Say what failed elsewhere."""
        return str(dump_result(problem))

    asked = {"type": "tool_call", "id": "c1", "args": {}}
    assert failure_in(await contained(fails, "c1").ainvoke({**asked, "name": "fails"})) == "No."
    assert failure_in(await contained(quotes, "c1").ainvoke({**asked, "name": "quotes"})) is None


async def test_a_plain_tool_without_async_gives_its_result_outside_of_a_graph_too() -> None:
    def rows() -> Items:
        """List incidents."""
        return ROWS

    plain = PlainTool.from_function(func=rows)
    assert plain.invoke({}) == await plain.ainvoke({}) == dump_result(ROWS)
