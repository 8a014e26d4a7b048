"""What a person types in a hurry: each mistake is told by its own sentence, with the right way."""

from __future__ import annotations

import json

import pytest

from tests.e2e.cli.command import run
from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.e2e.cli.test_chat import echoing

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("words", [("hello",), ("how", "do", "I", "add", "an", "agent")])
async def test_a_question_without_its_option_is_told_how_to_be_asked(tmp_path, words):
    done = await run("chat", *words, home=tmp_path)
    assert done.code == 2
    assert 'platform-engineer chat --ask "…"' in done.err


async def test_two_ids_to_resume_are_refused(tmp_path):
    done = await run("chat", "--resume", "aa", "bb", home=tmp_path)
    assert (done.code, done.err) == (2, "Error [usage]: --resume takes the id of one conversation.\n")


async def test_an_address_without_a_scheme_is_no_agent_that_is_down(tmp_path):
    done = await run("agents", "--url", "localhost:8000", home=tmp_path)
    assert done.code == 2
    assert "localhost:8000 is not an address; write it as http://host:port." in done.err


async def test_the_word_list_is_taken_though_it_says_nothing_more(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        done = await run("agents", "list", "--url", url, "--json", home=tmp_path)
    assert (done.code, json.loads(done.out)[0]["url"]) == (0, url)


async def test_a_token_with_the_word_before_it_is_refused_and_not_called_an_agent_that_is_away(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url:
        asked = ("chat", "--url", url, "--ask", "hello there")
        wrong = await run(*asked, "--token", "Bearer pe-secret", home=tmp_path)
        copied = await run(*asked, home=tmp_path, PLATFORM_ENGINEER_TOKEN="pe-secret")
        with_end = await run(*asked, "--token", " pe-secret\n", home=tmp_path)
    assert wrong.code == 2
    assert "without the word Bearer" in wrong.err
    assert "pe-secret" not in wrong.err
    assert [(done.code, "hello there" in done.out) for done in (copied, with_end)] == [(0, True)] * 2
