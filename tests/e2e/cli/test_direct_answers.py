"""An agent that is chatted with directly, and not behind the supervisor, gets the answers to its questions."""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cli.command import run
from utils.a2a_common import BaseLangGraphAgent, agent_tool, ask_user
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, Step, call, calls

QUESTION = "In which environment?"


class Widgets(BaseLangGraphAgent):
    """Asks before it does anything, as a page of the documentation shows it."""

    name = "widgets"
    description = "Restarts widgets."

    @agent_tool(approval="restart a widget")
    async def restart(self, widget: str) -> str:
        """Restart a widget."""
        return f"{widget} was restarted."

    @agent_tool()
    async def version_of(self, widget: str) -> str:
        """Tell which version of a widget runs."""
        return f"{widget} 1.2 in {ask_user(QUESTION).text}"


class ChoosyWidgets(Widgets):
    """Decides by itself what is an answer, as the supervisor does."""

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        return text == "staging"


@asynccontextmanager
async def served(steps: Sequence[Step], agent: type[BaseLangGraphAgent] = Widgets) -> AsyncIterator[str]:
    async with running_agent(agent, model=ScriptedModel(script=list(steps))) as url:
        yield url


@pytest.mark.parametrize(
    ("tool", "question", "answer", "result"),
    [
        ("restart", "restart a widget", "yes", "Green was restarted."),
        ("version_of", QUESTION, "staging", "Green 1.2 in staging"),
    ],
)
async def test_a_question_of_an_agent_that_was_asked_directly_is_answered_by_the_next_call(
    tmp_path: Path, tool: str, question: str, answer: str, result: str
) -> None:
    async with served([calls(call(tool, widget="Green")), f"Done: {result}"]) as url:
        asked = await run("chat", "--url", url, "--context", "c", "--ask", "Green, please", home=tmp_path)
        assert (asked.code, question in asked.err) == (5, True)
        hint = asked.err.split("To answer: platform-engineer ")[1].splitlines()[0]
        typed = [answer if word == "…" else word for word in shlex.split(hint)]
        told = await run(*typed, "--json", home=tmp_path)
        tasks = await run("tasks", "list", "--url", url, "--json", home=tmp_path)
    end = json.loads(told.out.splitlines()[-1])
    assert (end["state"], end["answer"]) == ("completed", f"Done: {result}")
    assert [one["status"]["state"] for one in json.loads(tasks.out)] == ["TASK_STATE_COMPLETED"]


async def test_a_question_of_an_agent_that_was_asked_directly_is_answered_by_the_next_line(
    tmp_path: Path,
) -> None:
    steps: list[Step] = [calls(call("version_of", widget="Green")), "It is 1.2.", "You are welcome."]
    async with served(steps) as url:
        done = await run("chat", "--url", url, home=tmp_path, typed="Which version?\nstaging\nThanks\n")
    assert QUESTION in done.err
    assert done.out == "It is 1.2.\nYou are welcome.\n"
    assert "another request" not in done.err


async def test_an_agent_that_decides_what_is_an_answer_may_take_a_line_for_another_request(
    tmp_path: Path,
) -> None:
    asks = calls(call("version_of", widget="Green"))
    async with served([asks, "Hello!", asks, "It is 1.2."], ChoosyWidgets) as url:
        typed = "Which version?\nGood morning\nWhich version?\nstaging\n"
        done = await run("chat", "--url", url, home=tmp_path, typed=typed)
    assert done.out == "Hello!\nIt is 1.2.\n"
    assert done.err.count("This was taken as another request: the question before it is dropped.") == 1
