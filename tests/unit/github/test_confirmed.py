"""A change is called sent when GitHub confirmed it, in the way that GitHub documents, and only then."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.rows import mostly_long
from tests.unit.github.changing import Conversation, agent_with, question_in, writing
from utils.events import Failed
from utils.testing.scripted_model import ScriptedModel

CHANGES: dict[str, dict[str, Any]] = {
    "comment_on_issue": {"number": 5, "body": "Thank you!"},
    "create_issue": {"title": "Crash"},
    "rerun_workflow": {"run_id": 7},
}
UNCONFIRMED = [
    "not-json",
    "odd",
    "accepted",
    "no-content",
    "created-page",
    "created-odd",
    "created-elsewhere",
    "not-modified",
]


@pytest.fixture
async def talk(tmp_path: Path, github):
    made = []

    def make(*script: object, **environ: str) -> Conversation:
        model = ScriptedModel(script=list(script))
        agent = agent_with(tmp_path, github.url, model, **environ)
        made.append(agent)
        return Conversation(agent, model)

    yield make
    for agent in made:
        await agent.stop()


def change(tool: str, answer: str) -> Any:
    return writing(tool, owner="faulty", repo=answer, **CHANGES[tool])


def states(tmp_path: Path) -> list[str]:
    connection = sqlite3.connect(tmp_path / "changes.sqlite")
    found = [str(row[0]) for row in connection.execute("SELECT state FROM changes ORDER BY asked_at")]
    connection.close()
    return found


@pytest.mark.parametrize("answer", mostly_long(UNCONFIRMED, 3))
@pytest.mark.parametrize("tool", CHANGES)
async def test_an_answer_that_confirms_nothing_leaves_the_outcome_unknown(
    talk, github, tmp_path, tool, answer
):
    chat = talk(change(tool, answer), "Look there.", change(tool, answer), "Not sent.")
    question_in(await chat.ask("Do it"))
    ended = (await chat.answer("yes"))[-1]
    assert chat.last_result()["error"] == "unknown_outcome"
    assert "may have arrived on GitHub or not" in chat.last_result()["message"]
    assert isinstance(ended, Failed)
    assert (ended.code, ended.retryable) == ("unknown_outcome", False)
    assert states(tmp_path) == ["unknown"]
    assert "may do it twice" in question_in(await chat.ask("Again", task="two")).question
    await chat.answer("no", task="two")
    assert len(github.recorder.changes()) == 1


@pytest.mark.parametrize("tool", ["comment_on_issue", "create_issue"])
async def test_what_was_made_has_an_address_or_is_not_known_to_be_made(talk, tmp_path, tool):
    chat = talk(change(tool, "created-empty"), "Look there.")
    question_in(await chat.ask("Do it"))
    await chat.answer("yes")
    assert chat.last_result()["error"] == "unknown_outcome"
    assert states(tmp_path) == ["unknown"]


async def test_an_order_to_run_again_makes_nothing_that_has_an_address(talk, tmp_path):
    chat = talk(change("rerun_workflow", "created-empty"), "It runs.")
    question_in(await chat.ask("Do it"))
    await chat.answer("yes")
    assert chat.last_result()["item"]["state"] == "sent"
    assert states(tmp_path) == ["done"]


@pytest.mark.parametrize("answer", ["moved", "moved-for-now"])
@pytest.mark.parametrize("tool", CHANGES)
async def test_a_change_to_a_repository_that_moved_was_not_sent(talk, github, tmp_path, tool, answer):
    chat = talk(change(tool, answer), "It moved.")
    question_in(await chat.ask("Do it"))
    await chat.answer("yes")
    assert "Nothing was sent: GitHub has moved" in chat.last_result()["message"]
    assert states(tmp_path) == ["refused"]
    assert len(github.recorder.changes()) == 1


@pytest.mark.parametrize("answer", ["retry-at-a-date", "retry-in-parts", "retry-at-odd-times", "retry-never"])
async def test_a_change_that_came_too_soon_was_refused(talk, tmp_path, answer):
    chat = talk(change("comment_on_issue", answer), "Later.")
    question_in(await chat.ask("Do it"))
    await chat.answer("yes")
    assert "GitHub asks to slow down" in chat.last_result()["message"]
    assert states(tmp_path) == ["refused"]
