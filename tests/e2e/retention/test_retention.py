"""Conversations that are older than RETENTION_DAYS are deleted from every file; others stay."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SECRET = "zanzibar-4711"
A_MOMENT = {"RETENTION_DAYS": "0.000001"}  # 86 milliseconds


def files_with(home: Path, text: str) -> list[str]:
    return [path.name for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


async def conversation(home: Path, text: str, environ: dict[str, str] | None = None) -> str:
    """A conversation of a supervisor with one sub-agent; its id."""
    model = ScriptedModel(script=[calls(call("keys", request=f"the value of {text}")), f"{text} is 1."])
    async with (
        running_agent(
            Keys, home=home, model=ScriptedModel(script=[calls(call("lookup", key=text)), f"{text} is 1"])
        ) as keys,
        running_agent(
            PlatformEngineer,
            home=home,
            model=model,
            environ={"SUB_AGENTS": f"keys={keys}", **(environ or {})},
        ) as url,
        connected(url) as client,
    ):
        answer = await ask(client, f"What is {text}?")
    assert (answer.state, answer.text) == ("completed", f"{text} is 1.")
    return answer.context_id


async def until_gone(home: Path, text: str) -> None:
    async with asyncio.timeout(60):
        while files_with(home, text):
            await asyncio.sleep(0.02)


async def test_an_old_conversation_is_deleted_with_every_word_of_it(tmp_path: Path) -> None:
    await conversation(tmp_path, SECRET)
    assert files_with(tmp_path, SECRET)
    async with (
        running_agent(Keys, home=tmp_path, model=ScriptedModel.of("Hi."), environ=A_MOMENT) as keys,
        running_agent(
            PlatformEngineer,
            home=tmp_path,
            model=ScriptedModel.of("Hi."),
            environ={"SUB_AGENTS": f"keys={keys}", **A_MOMENT},
        ),
    ):
        await until_gone(tmp_path, SECRET)
    assert files_with(tmp_path, SECRET) == []


async def test_a_conversation_that_is_not_old_goes_on(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path, SECRET)
    model = ScriptedModel.of("You asked for it.")
    async with (
        running_agent(
            Keys, home=tmp_path, model=ScriptedModel.of("Hi."), environ={"RETENTION_DAYS": "1"}
        ) as keys,
        running_agent(
            PlatformEngineer,
            home=tmp_path,
            model=model,
            environ={"SUB_AGENTS": f"keys={keys}", "RETENTION_DAYS": "1"},
        ) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "What did I ask?", context_id=context_id)
    assert answer.text == "You asked for it."
    assert any(SECRET in str(message.content) for message in model.requests[0].messages)
