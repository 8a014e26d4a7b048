"""A sub-agent that says nothing for long: waited for, with progress shown, up to its deadline."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskState

from tests.e2e.agents.peers import Answer, connected, message
from tests.e2e.delegation.teams import results, team
from tests.support.passing_time import pass_seconds
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

BOTH = calls(call("keys", "c1", request="a"), call("words", "c2", request="b"))


def waits(answer: Answer) -> list[tuple[str, float]]:
    """The signs of life of an agent that has begun: its name, seconds waited so far."""
    shown: list[Any] = [each for each in answer.metadata(ACTIVITY_EXTENSION) if "seconds" in each]
    working = [each for each in shown if each["kind"] == "delegation_progress" and each["state"] == "working"]
    return [(each["agent"], each["seconds"]) for each in working]


def ended(answer: Answer) -> set[str]:
    """The delegations that have ended."""
    shown = answer.metadata(ACTIVITY_EXTENSION)
    return {each["call_id"] for each in shown if each["kind"] == "delegation_finished"}


async def until_signs(answer: Answer, number: int, url: str, text: str, gate: asyncio.Event) -> None:
    """Follow the answer; let the silent agent go on once so many signs of life were seen."""
    async with connected(url) as client:
        async for event in client.send_message(message(text)):
            answer.events.append(event)
            if len(waits(answer)) >= number:
                gate.set()


async def test_a_silent_agent_is_waited_for_with_progress_shown() -> None:
    gate, answer = asyncio.Event(), Answer()
    script = [calls(call("keys", request="What is the value of a?")), "a is 1, after a while."]
    pace = {"SUB_AGENT_PROGRESS_SECONDS": "0.1", "SUB_AGENT_TIMEOUT_SECONDS": "60"}
    async with team(script, environ=pace, keys=[ScriptedReply(text="a is 1", gate=gate)]) as it:
        await until_signs(answer, 4, it.url, "What is a?", gate)
        (task,) = await it.tasks("keys")
    signs = waits(answer)
    assert (answer.state, answer.text) == ("completed", "a is 1, after a while.")
    assert results(it.supervisor) == ["a is 1"]
    assert {agent for agent, _ in signs} == {"keys"}
    assert [seconds for _, seconds in signs] == sorted(seconds for _, seconds in signs)
    assert signs[3][1] >= 0.4
    assert task.status.state == TaskState.TASK_STATE_COMPLETED


async def test_past_its_deadline_the_answer_comes_without_it_and_says_so() -> None:
    never = asyncio.Event()
    script = [BOTH, "b is 2. The keys agent did not answer in time."]
    pace = {"SUB_AGENT_PROGRESS_SECONDS": "0.2", "SUB_AGENT_TIMEOUT_SECONDS": "60"}
    keys, answer, over = [ScriptedReply(text="late", gate=never)], Answer(), False
    async with team(script, environ=pace, keys=keys, words=["b is 2"]) as it, connected(it.url) as client:
        async for event in client.send_message(message("a and b?")):
            answer.events.append(event)
            if not over and "c2" in ended(answer) and len(waits(answer)) >= 2:
                over = True
                pass_seconds(60)
        (task,) = await it.tasks("keys")
    assert (answer.state, answer.text) == ("completed", "b is 2. The keys agent did not answer in time.")
    late, in_time = results(it.supervisor)
    assert '"error":"deadline_exceeded"' in late
    assert "did not finish within 60 seconds" in late
    assert in_time == "b is 2"
    assert len(waits(answer)) >= 2
    assert task.status.state in (TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_FAILED)


if os.environ.get("REAL_TIME"):  # not skipped without it, since the full run allows no skips

    async def test_forty_seconds_of_silence_with_the_settings_as_they_are() -> None:
        gate, answer, began = asyncio.Event(), Answer(), time.monotonic()
        script = [calls(call("keys", request="What is a?")), "a is 1, after a while."]
        async with team(script, keys=[ScriptedReply(text="a is 1", gate=gate)]) as it:
            await until_signs(answer, 4, it.url, "What is a?", gate)
        assert (answer.state, answer.text) == ("completed", "a is 1, after a while.")
        assert time.monotonic() - began >= 40
