"""Tools of MCP servers that may change something wait for the user's yes; the card names every tool."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.mcp.conftest import STDIO, Plain
from tests.e2e.mcp.faulty import WAITS, faulty
from utils.events import Completed, InputRequired
from utils.mcp.approval import question_of
from utils.messages.approval import LONGEST_SHOWN
from utils.messages.results import ToolProblem, parse_result
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


def writing(file: Path, text: str = "one") -> object:
    return calls(call("box_write", path=str(file), text=text))


async def test_a_tool_that_may_change_something_waits_for_a_yes_and_shows_what_it_sends(talk, tmp_path):
    file = tmp_path / "notes"
    chat = await talk({"box": STDIO}, writing(file, "Grüße ``` \u202e"), "Done.")

    asked = (await chat.ask())[-1]

    assert isinstance(asked, InputRequired)
    assert "May I call the tool write of the MCP server box?" in asked.question
    assert str(file) in asked.question
    assert "Grüße" in asked.question
    assert "\\u202e" in asked.question, "what nobody can see is written out"
    assert not file.exists()
    assert isinstance((await chat.answer("yes"))[-1], Completed)
    assert file.read_text("utf-8") == "Grüße ``` \u202e\n"
    assert chat.last_result().text.startswith("wrote")


HIDDEN = "".join(chr(0xE0100 + byte) for byte in b"ghp")


@pytest.mark.parametrize(
    "hidden", [HIDDEN, "\u3164", "\u2800", "\u034f", "\ufe0f", "\u200d", "\u180b", "\uffa0"]
)
async def test_what_is_hidden_in_arguments_is_written_out_in_the_question(talk, tmp_path, hidden):
    chat = await talk({"box": STDIO}, writing(tmp_path / "notes", f"Thanks!{hidden} \u2764\ufe0f"), "Done.")
    asked = (await chat.ask())[-1]
    assert "Thanks!" + json.dumps(hidden)[1:-1] + " \u2764\ufe0f" in asked.question


@pytest.mark.parametrize("reply", ["no", "yes, but later", "", "Yes please do all of it", "да"])
async def test_nothing_is_called_after_any_other_answer(talk, tmp_path, reply):
    file = tmp_path / "notes"
    chat = await talk({"box": STDIO}, writing(file), "As you wish.")
    await chat.ask()
    assert isinstance((await chat.answer(reply))[-1], Completed)
    assert "Nothing was called" in chat.last_result().text
    assert not file.exists()


async def test_a_filled_form_counts_for_the_arguments_that_were_shown_only(talk, tmp_path):
    file = tmp_path / "notes"
    chat = await talk({"box": STDIO}, writing(file), "No.", writing(file), "Yes.")
    asked = (await chat.ask())[-1]
    digest = asked.form["properties"]["digest"]["const"]
    await chat.answer("", {"approve": True, "digest": "of something else"})
    assert not file.exists()
    await chat.ask("Again")
    await chat.answer("", {"approve": True, "digest": digest})
    assert file.read_text("utf-8") == "one\n"


async def test_two_calls_at_once_are_asked_about_one_after_the_other_and_run_once_each(talk, tmp_path):
    file = tmp_path / "notes"
    both = calls(call("box_write", path=str(file), text="one"), call("box_write", path=str(file), text="two"))
    chat = await talk({"box": STDIO}, both, "Done.")
    assert isinstance((await chat.ask())[-1], InputRequired)
    assert isinstance((await chat.answer("yes"))[-1], InputRequired)
    assert isinstance((await chat.answer("yes"))[-1], Completed)
    assert sorted(file.read_text("utf-8").split()) == ["one", "two"]


async def test_only_the_servers_word_that_a_tool_reads_spares_the_question(talk, tmp_path):
    chat = await talk({"box": STDIO}, calls(call("box_harmless", path=str(tmp_path / "x"))), "Asked.")
    assert isinstance((await chat.ask())[-1], InputRequired)


@pytest.mark.parametrize("allow", [["write"], ["*"]])
async def test_a_setting_lets_a_tool_run_without_asking(talk, tmp_path, allow):
    file = tmp_path / "notes"
    chat = await talk({"box": {**STDIO, "allow": allow}}, writing(file), "Done.")
    assert isinstance((await chat.ask())[-1], Completed)
    assert file.read_text("utf-8") == "one\n"


async def test_what_is_too_long_to_be_read_is_not_asked_about(talk, tmp_path):
    file = tmp_path / "notes"
    chat = await talk({"box": STDIO}, writing(file, "x" * LONGEST_SHOWN), "Too long.")
    assert isinstance((await chat.ask())[-1], Completed)
    problem = parse_result(chat.last_result().text)
    assert isinstance(problem, ToolProblem)
    assert "can be shown for approval" in problem.message
    assert not file.exists()


def test_each_call_has_a_question_of_its_own():
    digests = {
        question_of(server, tool, arguments).digest
        for server, tool, arguments in [
            ("box", "write", {"a": 1}),
            ("box", "write", {"a": 2}),
            ("box", "read", {"a": 1}),
            ("other", "write", {"a": 1}),
        ]
    }
    assert len(digests) == 4


async def test_the_card_names_the_tools_of_a_server_and_what_they_do():
    environ = {"MCP_SERVERS": json.dumps({"box": STDIO}), "MCP_START_SECONDS": "20"}
    async with running_agent(Plain, environ=environ, model=ScriptedModel.of()) as url:
        skills = await _skills(url)
    assert set(skills) == {"mcp_box"}
    assert 'greet ("Greets a person by name.")' in skills["mcp_box"]["description"]
    assert "Greets a person by name." in skills["mcp_box"]["examples"]
    assert len(skills["mcp_box"]["description"]) < 3_000


async def test_the_card_names_a_server_that_joins_later(rebuilt):
    async with faulty(WAITS, "initialize") as (server, settings), asyncio.timeout(60):
        environ = {"MCP_SERVERS": json.dumps({"late": settings}), "MCP_START_SECONDS": "0"}
        async with running_agent(Plain, environ=environ, model=ScriptedModel.of()) as url:
            assert set(await _skills(url)) == {"plain"}
            server.released.set()
            await rebuilt.wait()
            assert set(await _skills(url)) == {"mcp_late"}


async def _skills(url: str) -> dict[str, dict]:
    async with httpx.AsyncClient(trust_env=False) as http:
        card = (await http.get(f"{url}/.well-known/agent-card.json")).json()
    return {skill["id"]: skill for skill in card["skills"]}
