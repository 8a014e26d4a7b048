from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.unit.github.changing import (
    COMMENT,
    REPO,
    Conversation,
    agent_with,
    question_in,
    text_of,
    writing,
)
from utils.events import Completed, Failed
from utils.testing.scripted_model import ScriptedModel, call, calls


@pytest.fixture
async def talk(tmp_path: Path, github):
    """Makes a conversation whose model follows a script."""
    made = []

    def make(*script: object, **environ: str) -> Conversation:
        model = ScriptedModel(script=list(script))
        agent = agent_with(tmp_path, github.url, model, **environ)
        made.append(agent)
        return Conversation(agent, model)

    yield make
    for agent in made:
        await agent.stop()


async def test_a_comment_is_sent_after_a_yes_exactly_as_it_was_shown(talk, github):
    chat = talk(writing(), "It is posted.")
    question = question_in(await chat.ask("Comment on issue 5"))
    assert github.recorder.changes() == []
    assert f"POST {github.url}/repos/octocat/hello-world/issues/5/comments" in question.question
    assert "```text\nThank you!\n```" in question.question
    assert question.origin == "github"
    assert question.form is not None
    assert question.form["properties"]["approve"]["type"] == "boolean"
    events = await chat.answer("yes")
    assert isinstance(events[-1], Completed)
    (sent,) = github.recorder.changes()
    assert (sent.method, sent.path) == ("POST", "/repos/octocat/hello-world/issues/5/comments")
    assert json.loads(sent.body) == {"body": "Thank you!"}
    assert chat.last_result()["item"]["state"] == "sent"
    assert chat.last_result()["source"].endswith("issues/5#issuecomment-1")


@pytest.mark.parametrize(
    "tool, arguments, sent_as",
    [
        (
            "create_issue",
            {**REPO, "title": "Crash", "body": "At start.", "labels": ["bug"]},
            ("issues", {"title": "Crash", "body": "At start.", "labels": ["bug"]}),
        ),
        ("create_issue", {**REPO, "title": "Crash"}, ("issues", {"title": "Crash"})),
        ("rerun_workflow", {**REPO, "run_id": 7}, ("actions/runs/7/rerun-failed-jobs", None)),
        ("rerun_workflow", {**REPO, "run_id": 7, "whole": True}, ("actions/runs/7/rerun", None)),
    ],
)
async def test_each_change_is_asked_for_and_sent_as_shown(talk, github, tool, arguments, sent_as):
    path, body = sent_as
    chat = talk(writing(tool, **arguments), "Done.")
    question = question_in(await chat.ask("Do it")).question
    assert f"/repos/octocat/hello-world/{path}" in question
    for value in (body or {}).values():
        assert (value if isinstance(value, str) else value[0]) in question
    await chat.answer("", data=[{"approve": True}])
    (sent,) = github.recorder.changes()
    assert sent.path == f"/repos/octocat/hello-world/{path}"
    assert (json.loads(sent.body) if sent.body else None) == body


async def test_two_changes_at_once_are_asked_about_one_after_the_other(talk, github):
    both = calls(
        call("comment_on_issue", "first", **COMMENT),
        call("comment_on_issue", "second", **COMMENT | {"number": 6}),
    )
    chat = talk(both, "One was sent.")
    first = question_in(await chat.ask("Comment on both")).question
    second = question_in(await chat.answer("yes")).question
    assert {"issues/5/" in first, "issues/5/" in second} == {True, False}
    assert len(github.recorder.changes()) == 1
    assert isinstance((await chat.answer("no"))[-1], Completed)
    assert len(github.recorder.changes()) == 1


async def test_without_the_setting_there_is_no_tool_that_writes(talk):
    agent = talk(GITHUB_WRITE="false").agent
    names = {tool.name for tool in await agent.tools()}
    assert names.isdisjoint({"comment_on_issue", "create_issue", "rerun_workflow"})
    assert "GITHUB_WRITE is not set" in agent.system_prompt()


async def test_with_the_setting_the_card_offers_what_the_tools_do(talk):
    agent = talk().agent
    assert [skill.id for skill in agent.skills] == [tool.name for tool in await agent.tools()]
    assert "comment_on_issue" in agent.system_prompt()


async def test_without_a_token_nothing_is_asked(talk, github):
    chat = talk(writing(), "I cannot.", GITHUB_TOKEN="")
    assert isinstance((await chat.ask("Comment"))[-1], Completed)
    assert "set GITHUB_TOKEN" in chat.last_result()["message"]


async def test_a_change_that_github_refuses_is_told_and_not_repeated(talk, github):
    chat = talk(writing(**{**COMMENT, "repo": "no-such-repo"}), "It is not there.")
    question_in(await chat.ask("Comment"))
    await chat.answer("yes")
    assert "(404)" in chat.last_result()["message"]
    assert len(github.recorder.changes()) == 1


@pytest.mark.parametrize("kind", ["server-error", "cut", "slow"])
async def test_a_change_without_a_clear_answer_is_sent_once_and_fails_as_unknown(talk, github, kind):
    arguments: dict[str, Any] = {"owner": "faulty", "repo": kind, "number": 5, "body": "Hello"}
    chat = talk(writing(**arguments), "Look there.", "More.", GITHUB_TIMEOUT_SECONDS="0.5")
    question_in(await chat.ask("Comment"))
    ended = await chat.answer("yes")
    assert len(github.recorder.changes()) == 1
    assert isinstance(ended[-1], Failed)
    assert ended[-1].code == chat.last_result()["error"] == "unknown_outcome"
    assert "may have arrived on GitHub or not" in ended[-1].message
    assert text_of(ended) == "Look there."
    assert text_of(await chat.ask("And now?", task="next")) == "More."


async def test_a_change_to_a_github_that_is_down_was_not_sent(talk, tmp_path):
    chat = talk(writing(), "Later.", GITHUB_API_URL="http://127.0.0.1:9")
    question_in(await chat.ask("Comment"))
    await chat.answer("yes")
    assert "nothing was sent" in chat.last_result()["message"]


async def test_after_a_kill_the_unknown_outcome_is_reported_and_nothing_is_sent_again(tmp_path, github):
    saver, model = InMemorySaver(), ScriptedModel(script=[writing(), "It may have arrived."])
    first = Conversation(agent_with(tmp_path, github.url, model, saver), model)
    question_in(await first.ask("Comment"))
    (entry,) = [row async for row in _entries(first)]
    assert await first.agent._sender.journal.intend(entry)  # here the process is killed
    await first.agent.stop()
    second = Conversation(agent_with(tmp_path, github.url, model, saver), model)
    ended = (await second.answer("yes"))[-1]
    assert second.last_result()["error"] == "unknown_outcome"
    assert isinstance(ended, Failed)
    assert "may have arrived on GitHub or not. It was not sent again" in ended.message
    assert github.recorder.changes() == []
    await second.agent.stop()


async def _entries(chat: Conversation):
    from agents.github.changes.encrypted import EncryptedJournal
    from agents.github.changes.journal import _COLUMNS, Entry, Journal

    encrypting = chat.agent._sender.journal
    assert isinstance(encrypting, EncryptedJournal)
    journal = encrypting._inner
    assert isinstance(journal, Journal)

    def read(connection):
        return [Entry(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM changes")]

    for entry in await journal._database.read(read):
        yield entry


async def test_the_same_change_after_an_unknown_outcome_carries_a_warning(talk, github):
    arguments: dict[str, Any] = {"owner": "faulty", "repo": "server-error", "number": 5, "body": "Hello"}
    chat = talk(writing(**arguments), "Unknown.", writing(**arguments), "Not sent.")
    question_in(await chat.ask("Comment"))
    await chat.answer("yes")
    assert "may do it twice" in question_in(await chat.ask("Again", task="two")).question
    await chat.answer("no", task="two")
    assert len(github.recorder.changes()) == 1
