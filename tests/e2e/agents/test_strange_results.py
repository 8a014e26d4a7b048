"""What a tool or a model gives back that is no text, or ends more than itself, costs that call and nothing else."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.types import Command
from pydantic import Field, create_model

from tests.e2e.agents.peers import Keys, ask, connected
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@tool
def leave(code: int) -> str:
    """End the program, as a command-line library does."""
    sys.exit(code)


@tool
async def leave_soon(code: int) -> str:
    """End the program from a coroutine."""
    await asyncio.sleep(0)
    sys.exit(code)


@tool
async def give_up(what: str) -> str:
    """Wait for something that somebody else canceled."""
    waited: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waited.cancel()
    return await waited


class EndsMore(BaseException):
    """What a library raises to end more than a call."""


RAISED = {
    "own": EndsMore("now"),
    "group": BaseExceptionGroup("both", [EndsMore("now"), ValueError("bad")]),
    "generator": GeneratorExit(),
}


@tool
def raise_error(kind: str) -> str:
    """Raise what is no Exception."""
    raise RAISED[kind]


@tool
async def raise_soon(kind: str) -> str:
    """Raise it from a coroutine."""
    await asyncio.sleep(0)
    raise RAISED[kind]


@tool
def name_of_file(number: int) -> str:
    """A name that is no text, as the system gives names of files that are not UTF-8."""
    return f"report-{number}-" + b"\xff".decode("utf-8", "surrogateescape")


class Strange(Keys):
    """An agent whose tools are written carelessly."""

    async def tools(self) -> Sequence[BaseTool]:
        return [*await super().tools(), leave, leave_soon, give_up, raise_error, raise_soon, name_of_file]


@pytest.mark.parametrize(
    "bad",
    [
        call("leave", code=3),
        call("leave_soon", code=3),
        call("give_up", what="x"),
        *(call(name, kind=kind) for name in ("raise_error", "raise_soon") for kind in RAISED),
    ],
    ids=lambda each: f"{each['name']} {each['args'].get('kind', '')}".strip(),
)
async def test_a_tool_that_ends_the_program_or_is_canceled_inside_is_a_failed_tool(bad) -> None:
    both = calls(bad, call("lookup", "two", key="a"))
    model = ScriptedModel(script=[both, "Half of it worked.", "Still here."])
    async with running_agent(Strange, model=model) as url, connected(url) as client:
        answer = await ask(client, "hello")
        assert (answer.state, answer.text) == ("completed", "Half of it worked.")
        ends = {
            each["tool"]: each["status"]
            for each in answer.metadata(ACTIVITY_EXTENSION)
            if each["kind"] == "tool_finished"
        }
        assert ends == {bad["name"]: "error", "lookup": "ok"}
        assert (await ask(client, "still there?")).text == "Still here."
    shown = [str(each.content) for each in model.requests[1].messages if each.type == "tool"]
    assert any("failed unexpectedly" in each for each in shown)
    assert any("the value of a" in each for each in shown)


async def test_halves_of_characters_from_tools_and_models_are_replaced_and_the_turn_goes_on() -> None:
    asked = calls(call("name_of_file", number=1), call("lookup", "two", key="cut \ud83d here"))
    said = ScriptedReply(chunks=["It is \ud83d", "\ude80 and half \ud83d of one \ud83d"])
    model = ScriptedModel(script=[asked, said, "You said it."])
    async with running_agent(Strange, model=model) as url, connected(url) as client:
        answer = await ask(client, "which file?")
        assert answer.state == "completed"
        assert answer.text == "It is 🚀 and half \ufffd of one \ufffd"
        await ask(client, "again", context_id=answer.context_id)
    shown = [str(each.content) for each in model.requests[2].messages]
    assert "report-1-\ufffd" in "".join(shown)
    assert "the value of cut \ufffd here" in "".join(shown)


HALF = b"caf\xe9".decode("utf-8", "surrogateescape")
"""What a variable of the environment or the name of a file is that is not UTF-8."""


def told(key: str) -> str:
    """Nothing yet."""
    return f"{HALF}: {key}"


class Noting(BaseLangGraphAgent):
    """An agent whose tools give rows, and messages of their own, with what is no character."""

    name = "noting"
    description = "Notes things."

    @agent_tool()
    async def rows(self) -> list[dict[str, str]]:
        """Tell what there is."""
        return [{"name": HALF}]

    @agent_tool()
    async def note(self, runtime: ToolRuntime) -> Command[Any]:
        """Note something."""
        return Command(
            update={"messages": [ToolMessage(f"Noted {HALF}.", tool_call_id=runtime.tool_call_id)]}
        )


async def test_halves_of_characters_in_rows_and_in_messages_of_a_tool_are_replaced() -> None:
    model = ScriptedModel(script=[calls(call("rows", "r"), call("note", "n")), "It is noted."])
    async with running_agent(Noting, model=model) as url, connected(url) as client:
        answer = await ask(client, "hello")
    assert (answer.state, answer.text) == ("completed", "It is noted.")
    shown = "".join(str(each.content) for each in model.requests[1].messages if each.type == "tool")
    assert shown.count("caf\ufffd") == len(["rows", "note"])
    assert shown.encode()


class Described(Keys):
    """An agent whose words hold what is no character: its instruction, and the description of a tool and of an argument."""

    def system_prompt(self) -> str:
        return f"You work for {HALF}."

    async def tools(self) -> Sequence[BaseTool]:
        form = create_model("Told", key=(str, Field(description=f"A key of {HALF}.")))
        return [StructuredTool.from_function(told, description=f"Tells of {HALF}.", args_schema=form)]


async def test_halves_of_characters_in_the_words_of_an_agent_are_replaced_for_its_model() -> None:
    model = ScriptedModel(script=[calls(call("told", key="a")), "It is told."])
    async with running_agent(Described, model=model) as url, connected(url) as client:
        answer = await ask(client, "hello")
    assert (answer.state, answer.text) == ("completed", "It is told.")
    for request in model.requests:
        sent = json.dumps([str(each.content) for each in request.messages], ensure_ascii=False)
        offered = json.dumps(request.tools, ensure_ascii=False)
        assert "You work for caf\ufffd." in sent
        assert "Tells of caf\ufffd." in offered
        assert "A key of caf\ufffd." in offered
        assert (sent + offered).encode()
