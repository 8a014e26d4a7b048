"""What a tool gets wrong when it asks or publishes: the question is asked all the same, and the tool is told at once what to write."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.execution.publishable import EventRefused
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.graph.tools.events import publish
from utils.events import (
    ArtifactAdded,
    Completed,
    DataPart,
    Failed,
    FileBytes,
    InputRequired,
    MetadataReported,
    StatusText,
    TextDelta,
    TextPart,
)
from utils.testing.contract.client import client_of, state_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


class Careless(BaseLangGraphAgent):
    """An agent whose tools catch everything."""

    name = "careless"
    description = "Catches everything."

    @agent_tool()
    async def swallow(self) -> str:
        """Ask, and take the question for an error."""
        try:
            return f"The answer is {ask_user('Which one?').text}."
        except Exception as error:  # as careless code does
            return f"swallowed {type(error).__name__}"

    @agent_tool()
    def swallow_in_a_thread(self) -> str:
        """Ask from a thread, and take the question for an error of another kind."""
        try:
            return f"The answer is {ask_user('Which one?').text}."
        except BaseException as error:
            raise ValueError("It went wrong.") from error

    @agent_tool()
    async def gather(self) -> str:
        """Ask twice at once, and count what went wrong."""

        async def asked(number: int) -> str:
            return ask_user(f"Which number {number}?").text

        found = await asyncio.gather(asked(1), asked(2), return_exceptions=True)
        return f"The answer is {found}."

    @agent_tool(approval="sell it")
    async def sell(self) -> str:
        """Sell, and ask the price."""
        try:
            price = ask_user("Which one?").text
        except Exception:
            price = "nothing"
        SOLD.append(price)
        return f"The answer is {price}."

    @agent_tool()
    async def blank(self, words: str) -> str:
        """Ask nothing."""
        return ask_user(words).text


SOLD: list[str] = []


@pytest.mark.parametrize("tool", ["swallow", "swallow_in_a_thread"])
async def test_a_question_that_the_tools_own_code_swallows_is_asked_all_the_same(tool: str) -> None:
    model = ScriptedModel(script=[calls(call(tool)), "So be it."])
    async with running_agent(Careless, model=model) as url, client_of(url) as client:
        asked = await client.ask("Choose.")
        where = {"contextId": asked.task["contextId"], "taskId": asked.task["id"]}
        answered = await client.ask("the red one", **where)
    assert asked.states[-1] == "input_required"
    assert "Which one?" in str(asked.events[-1])
    assert answered.states[-1] == "completed"
    assert "The answer is the red one." in str(model.requests[-1].messages)


async def test_of_questions_that_are_swallowed_together_each_is_asked_in_turn() -> None:
    model = ScriptedModel(script=[calls(call("gather")), "So be it."])
    async with running_agent(Careless, model=model) as url, client_of(url) as client:
        seen = [await client.ask("Choose.")]
        for words in ("red", "blue"):
            where = {"contextId": seen[0].task["contextId"], "taskId": seen[0].task["id"]}
            seen.append(await client.ask(words, **where))
    assert [each.states[-1] for each in seen] == ["input_required", "input_required", "completed"]
    assert [f"Which number {n}?" in str(seen[n - 1].events[-1]) for n in (1, 2)] == [True, True]
    assert "The answer is ['red', 'blue']." in str(model.requests[-1].messages)


async def test_a_question_swallowed_beside_another_call_costs_that_call_nothing() -> None:
    reply = calls(call("swallow", "c1"), call("blank", "c2", words="And you?"))
    model = ScriptedModel(script=[reply, "So be it."])
    async with running_agent(Careless, model=model) as url, client_of(url) as client:
        seen = [await client.ask("Choose.")]
        for words in ("red", "blue"):
            where = {"contextId": seen[0].task["contextId"], "taskId": seen[0].task["id"]}
            seen.append(await client.ask(words, **where))
    assert [each.states[-1] for each in seen] == ["input_required", "input_required", "completed"]
    assert "The answer is red." in str(model.requests[-1].messages)
    assert "blue" in str(model.requests[-1].messages)


@pytest.mark.parametrize("words", ["", " \n"])
async def test_a_question_without_words_is_refused_in_the_call(words: str) -> None:
    model = ScriptedModel(script=[calls(call("blank", words=words)), "So be it."])
    async with running_agent(Careless, model=model) as url, client_of(url) as client:
        seen = await client.ask("Choose.")
    assert "ask_user needs a question in words" in str(model.requests[-1].messages)
    assert seen.states[-1] != "input_required"


class Filer(BaseLangGraphAgent):
    """An agent that publishes what a test wants."""

    name = "filer"
    description = "Publishes things."

    @agent_tool()
    async def publish_it(self) -> str:
        """Publish something, and note what came of it."""
        for make in WANTED:
            try:
                publish(make())
            except EventRefused as error:
                TOLD.append(error.message)
                raise
        return "It is published."

    @agent_tool()
    async def work(self) -> str:
        """Work until something was published, or refused."""
        await asyncio.to_thread(RELEASED.wait, 20)
        return "The work is done."


WANTED: list[Callable[[], Any]] = []
TOLD: list[str] = []
RELEASED = threading.Event()

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no parts": (lambda: ArtifactAdded([]), "at least one part"),
    "a text as parts": (lambda: ArtifactAdded("text"), "its `parts` are no list"),  # type: ignore[arg-type]
    "a text as a part": (lambda: ArtifactAdded(["text"]), "TextPart, FileBytes, FileUrl or DataPart"),  # type: ignore[list-item]
    "text as bytes": (lambda: ArtifactAdded([FileBytes("x", "a.txt")]), "`content` is of type str"),  # type: ignore[arg-type]
    "a name that is none": (lambda: ArtifactAdded([TextPart("x")], name=None), "`name` is of type NoneType"),  # type: ignore[arg-type]
    "the id of the answer": (lambda: ArtifactAdded([TextPart("x")], id="response"), "'response'"),
    "an object as data": (lambda: ArtifactAdded([DataPart(object())]), "JSON"),
    "no number as data": (lambda: ArtifactAdded([DataPart(float("nan"))]), "JSON"),
    "metadata of objects": (
        lambda: ArtifactAdded([TextPart("x")], metadata={"urn:x": {"a": object()}}),
        "JSON",
    ),
    "no status": (lambda: StatusText(None), "`text` is of type NoneType"),  # type: ignore[arg-type]
    "an object reported": (lambda: MetadataReported("urn:x", {"a": object()}), "JSON"),
    "nothing": (lambda: None, "publish takes ArtifactAdded, StatusText or MetadataReported"),
    "a text": (lambda: "text", "publish takes ArtifactAdded, StatusText or MetadataReported"),
    "a piece of the answer": (lambda: TextDelta("x"), "return it from the tool"),
    "an end": (Completed, "ends a turn"),
    "a failure": (lambda: Failed("x", "y"), "ends a turn"),
    "a question": (lambda: InputRequired("x?", ""), "ask_user"),
}


@pytest.mark.parametrize("kind", WRONG)
async def test_what_cannot_be_published_is_refused_in_the_call_with_what_to_write(kind: str) -> None:
    make, words = WRONG[kind]
    WANTED[:], TOLD[:] = [make], []
    model = ScriptedModel(script=[calls(call("publish_it")), "So be it."])
    async with running_agent(Filer, model=model) as url, client_of(url) as client:
        seen = await client.ask("Publish it.")
        again = await client.ask("Hello.", contextId=seen.task["contextId"])
    (told,) = TOLD
    assert words in told
    assert "event_refused" in str(model.requests[1].messages)
    assert "internal_error" not in str(seen.events)
    assert again.states[-1] in ("completed", "failed")


async def test_an_end_that_a_tool_publishes_cuts_off_no_call_beside_it() -> None:
    def refused() -> Any:
        RELEASED.set()
        return Completed()

    RELEASED.clear()
    WANTED[:], TOLD[:] = [refused], []
    model = ScriptedModel(script=[calls(call("publish_it", "c1"), call("work", "c2")), "All is said."])
    async with running_agent(Filer, model=model) as url, client_of(url) as client:
        seen = await client.ask("Publish it.")
    assert "The work is done." in str(model.requests[-1].messages)
    assert (seen.states[-1], seen.text) == ("completed", "All is said.")


async def test_what_can_be_published_is_published_however_its_text_was_cut() -> None:
    WANTED[:] = [
        lambda: StatusText("Half \ud800."),
        lambda: ArtifactAdded((TextPart("Half \ud800."), DataPart({"a": "\ud800"})), name="cut"),
        lambda: ArtifactAdded([DataPart([1, None, "x"])], name="rows", metadata={"urn:x": {"a": 1}}),
        lambda: MetadataReported("urn:y", {"b": [1, 2]}),
    ]
    model = ScriptedModel(script=[calls(call("publish_it")), "So be it."])
    async with running_agent(Filer, model=model) as url, client_of(url) as client:
        seen = await client.ask("Publish it.")
        stored = await client.get(seen.task["id"])
    assert state_of(stored) == "completed"
    assert {"cut", "rows"} <= {each["name"] for each in stored["artifacts"]}
