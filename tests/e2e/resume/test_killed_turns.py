"""A turn whose process is killed goes on in a new process: nothing that had finished is done again."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.preloaded import process as preloaded
from utils.events import ToolStatus

ROOT = Path(__file__).resolve().parents[3]


class Turns:
    """Runs turns in processes of their own, on one home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    async def run(self, text: str, **order: Any) -> list[dict[str, Any]]:
        """The events of one process; it is killed where it stops."""
        given = json.dumps({"home": str(self.home), "text": text, **order})
        process = await preloaded.start(
            ["-m", "tests.e2e.resume.child", given],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        events = []
        async with asyncio.timeout(60):
            async for line in process.stdout:
                if not line.startswith(b"{"):
                    continue
                events.append(json.loads(line))
                if events[-1]["event"] == "stopped" or (
                    order.get("stop") == "stream" and events[-1]["event"] == "TextDelta"
                ):
                    process.kill()
        await process.wait()
        return events

    async def killed(self, text: str, stop: str, **order: Any) -> list[dict[str, Any]]:
        """A process that is killed at a place; what it said before."""
        events = await self.run(text, stop=stop, **order)
        assert ("TextDelta" if stop == "stream" else "stopped") in [event["event"] for event in events]
        return events

    async def recovered(self, text: str, **order: Any) -> list[dict[str, Any]]:
        """The same turn in a new process."""
        events = await self.run(text, recovered=True, **order)
        assert events[0]["event"] == "TextRestarted"
        return events

    def lines(self, name: str) -> list[str]:
        file = self.home / name
        return file.read_text().splitlines() if file.exists() else []

    @property
    def recorded(self) -> int:
        """How many tool calls are still recorded."""
        with closing(sqlite3.connect(self.home / "tool_calls.sqlite")) as connection:
            return int(connection.execute("SELECT count(*) FROM tool_calls").fetchone()[0])


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    return Turns(tmp_path)


def text_of(events: list[dict[str, Any]]) -> str:
    """The text as a client has it at the end: what follows the last restart."""
    said = ""
    for event in events:
        if event["event"] == "TextRestarted":
            said = ""
        elif event["event"] == "TextDelta":
            said += event["text"]
    return said


def named(events: list[dict[str, Any]], *names: str) -> list[str]:
    return [f"{each['event']} {each['tool']}" for each in events if each["event"] in names]


async def test_a_read_only_tool_that_was_cut_off_runs_again(turns: Turns) -> None:
    await turns.killed("please look", "tool")
    events = await turns.recovered("please look")
    assert text_of(events) == "I have seen."
    assert turns.lines("effects") == ["look", "look"]
    assert len(turns.lines("requests")) == 2
    assert turns.recorded == 0


async def test_another_tool_that_was_cut_off_is_not_run_again_and_the_model_is_told(turns: Turns) -> None:
    await turns.killed("please order", "tool")
    events = await turns.recovered("please order")
    assert "unknown_outcome" in text_of(events)
    assert "It was not run again" in text_of(events)
    assert turns.lines("effects") == ["order"]
    (finished,) = [each for each in events if each["event"] == "ToolFinished"]
    assert finished["status"] == ToolStatus.INTERRUPTED
    assert (events[-1]["event"], events[-1]["code"]) == ("Failed", "unknown_outcome")
    assert turns.recorded == 0


async def test_a_tool_that_ended_before_its_checkpoint_is_answered_from_the_record(turns: Turns) -> None:
    before = await turns.killed("please order", "record")
    events = await turns.recovered("please order")
    assert text_of(events) == "I have ordered."
    assert turns.lines("effects") == ["order"]
    assert named(before, "ToolStarted", "ToolFinished") == ["ToolStarted order", "ToolFinished order"]
    assert named(events, "ToolStarted", "ToolFinished") == []
    (artifact,) = [each for each in events if each["event"] == "ArtifactAdded"]
    assert artifact["name"] == "receipt"
    assert turns.recorded == 0


async def test_the_finished_one_of_two_parallel_tools_is_not_repeated_and_not_reported_again(
    turns: Turns,
) -> None:
    before = await turns.killed("please pack wait", "wait")
    events = await turns.recovered("please pack wait")
    assert text_of(events) == "I have packed, waited."
    assert turns.lines("effects") == ["pack"]
    assert named(before, "ToolFinished") == ["ToolFinished pack"]
    assert named(events, "ToolStarted", "ToolFinished") == ["ToolStarted wait", "ToolFinished wait"]
    assert len(turns.lines("requests")) == 2


async def test_an_answer_that_was_cut_off_begins_again_and_the_tools_before_it_do_not(turns: Turns) -> None:
    before = await turns.killed("please order", "stream")
    events = await turns.recovered("please order")
    assert text_of(before) == "I have"
    assert text_of(events) == "I have ordered."
    assert turns.lines("effects") == ["order"]
    assert len(turns.lines("requests")) == 3  # the call, the answer that was cut off, the whole answer


async def test_a_graph_that_had_finished_gives_its_stored_answer_without_a_model_call(turns: Turns) -> None:
    await turns.killed("please order", "end")
    events = await turns.recovered("please order")
    assert text_of(events) == "I have ordered."
    assert [each["event"] for each in events] == ["TextRestarted", "TextDelta", "UsageReported", "Completed"]
    assert len(turns.lines("requests")) == 2


async def test_tool_calls_are_recorded_until_the_end_of_their_task_can_be_stored(turns: Turns) -> None:
    await turns.killed("please order", "end")
    assert turns.recorded == 1
    await turns.recovered("please order")
    assert turns.recorded == 0


async def test_an_answer_that_was_stored_before_the_kill_is_said_though_the_model_does_not_run_again(
    turns: Turns,
) -> None:
    await turns.killed("please order", "answer")
    events = await turns.recovered("please order")
    assert text_of(events) == "I have ordered."
    assert events[-1]["event"] == "Completed"
    assert len(turns.lines("requests")) == 2


async def test_a_models_answer_that_is_stored_without_its_checkpoint_goes_on_with_its_tools(
    turns: Turns,
) -> None:
    await turns.killed("please order", "written")
    events = await turns.recovered("please order")
    assert text_of(events) == "I have ordered."
    assert events[-1]["event"] == "Completed"
    assert turns.lines("effects") == ["order"]
    assert len(turns.lines("requests")) == 2


async def test_a_turn_that_was_killed_before_its_first_checkpoint_begins_with_its_message(
    turns: Turns,
) -> None:
    await turns.killed("please look", "input")
    events = await turns.recovered("please look")
    assert text_of(events) == "I have seen."
    assert turns.lines("effects") == ["look"]


@pytest.mark.parametrize("stop", ["written", "tool", "record", "stream", "end"])
async def test_tokens_of_the_killed_process_are_counted_once(turns: Turns, stop: str) -> None:
    text = "please look"
    await turns.killed(text, stop)
    events = await turns.recovered(text)
    (used,) = [each["by_agent"]["shop"] for each in events if each["event"] == "UsageReported"]
    assert (used["input_tokens"], used["output_tokens"]) == (20, 2)


async def test_the_conversation_after_a_recovered_turn_has_no_orphan_and_each_message_once(
    turns: Turns,
) -> None:
    await turns.killed("please pack wait", "wait")
    await turns.recovered("please pack wait")
    await turns.run("please look", message_id="next")
    assert turns.lines("requests")[-1] == str(
        ["system", "human", "ai", "tool", "tool", "ai", "human", "ai", "tool"]
    )


async def test_a_turn_that_is_killed_twice_goes_on_again(turns: Turns) -> None:
    await turns.killed("please order look", "record order")
    await turns.killed("please order look", "stream", recovered=True)
    events = await turns.recovered("please order look")
    assert text_of(events) == "I have ordered, seen."
    assert turns.lines("effects").count("order") == 1


async def test_an_answer_to_a_question_is_given_once_wherever_the_process_is_killed(turns: Turns) -> None:
    asked = await turns.run("please confirm")
    assert asked[-1]["question"] == "Which colour?"
    again = await turns.run("red", message_id="a1", resumes=True)
    assert again[-1]["question"] == "Which size?"
    await turns.killed("large", "tool", message_id="a2", resumes=True)
    events = await turns.recovered("large", message_id="a2", resumes=True)
    assert "unknown_outcome" in text_of(events)
    assert turns.lines("effects") == ["confirm red large"]


async def test_an_answer_that_no_tool_has_had_is_given_after_the_restart(turns: Turns) -> None:
    await turns.run("please confirm")
    await turns.run("red", message_id="a1", resumes=True)
    events = await turns.recovered("large", message_id="a2", resumes=True)
    assert text_of(events) == "I have red large."
    assert turns.lines("effects") == ["confirm red large"]


async def test_a_turn_that_ended_with_a_question_asks_it_again_after_a_restart(turns: Turns) -> None:
    await turns.run("please confirm")
    events = await turns.recovered("please confirm")
    assert events[-1]["question"] == "Which colour?"


async def test_a_finished_answered_turn_gives_its_stored_answer(turns: Turns) -> None:
    await turns.run("please confirm")
    await turns.run("red", message_id="a1", resumes=True)
    await turns.killed("large", "end", message_id="a2", resumes=True)
    events = await turns.recovered("large", message_id="a2", resumes=True)
    assert text_of(events) == "I have red large."
    assert turns.lines("effects") == ["confirm red large"]
