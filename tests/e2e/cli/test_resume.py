"""A conversation can be found again and gone on with."""

from __future__ import annotations

import json

from tests.e2e.agents.test_proven_answers import DELETED, Depot
from tests.e2e.cli.command import run
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from tests.e2e.cli.terminal import fresh_terminal, terminal
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


async def talking(turn: Turn) -> None:
    await turn.task()
    if turn.text == "deploy":
        await turn.status("input_required", "May I deploy?")
        return
    await turn.chunk(f"You said {turn.text}.", append=False)
    await turn.status("completed")


async def test_earlier_conversations_are_listed_and_one_goes_on_with_its_last_lines(tmp_path):
    agent = ScriptedAgent(talking)
    async with serve(agent) as url:
        await run("chat", "--url", url, home=tmp_path, typed="first of all\n/new\nsomething else\n")
        one, two = (context for _, _, context in agent.seen)
        typed = f"/conversations\n/resume {one[:8]}\nand again\n/resume nonsense\n"
        done = await run("chat", "--url", url, home=tmp_path, typed=typed)
    assert f"1  {two[:8]}" in done.err
    assert f"2  {one[:8]}" in done.err
    assert "> first of all\n  You said first of all.\n" in done.err
    assert "There is no conversation nonsense" in done.err
    assert agent.seen[-1][0] == "and again"
    assert agent.seen[-1][2] == one


async def test_a_chat_resumes_by_the_beginning_of_the_id_and_answers_what_waits(tmp_path):
    agent = ScriptedAgent(talking)
    async with serve(agent) as url:
        await run("chat", "--url", url, home=tmp_path, typed="deploy\n")
        _, task, context = agent.seen[0]
        done = await run("chat", "--url", url, "--resume", context[:8], home=tmp_path, typed="yes\n")
    assert "May I deploy?" in done.err
    assert agent.seen[1] == ("yes", task, context)
    assert done.out == "You said yes.\n"


async def test_ask_with_the_conversation_answers_the_question_that_waits_there(tmp_path):
    agent = ScriptedAgent(talking)
    async with serve(agent) as url:
        asked = await run("chat", "--url", url, "--ask", "deploy", home=tmp_path)
        _, task, context = agent.seen[0]
        done = await run("chat", "--url", url, "--context", context, "--ask", "yes", "-q", home=tmp_path)
    assert asked.code == 5
    assert f'To answer: platform-engineer chat --url {url} --context {context} --ask "…"' in asked.err
    assert agent.seen[1] == ("yes", task, context)
    assert (done.code, done.out, done.err) == (0, "You said yes.\n", "")


async def test_an_id_that_leads_nowhere_is_a_sentence_and_exit_code_2(tmp_path):
    async with serve(ScriptedAgent(talking)) as url:
        done = await run("chat", "--url", url, "--resume", "abc", home=tmp_path)
        both = await run("chat", "--url", url, "--resume", "--context", "c", home=tmp_path)
        text = await run("chat", "what is this", home=tmp_path)
    assert (done.code, both.code, text.code) == (2, 2, 2)
    assert "There is no conversation abc" in done.err
    assert 'Use: platform-engineer chat --ask "…"' in " ".join(text.err.split())


async def test_a_terminal_shows_the_id_and_says_goodbye_with_the_way_back(tmp_path):
    agent = ScriptedAgent(talking)
    async with serve(agent) as url, terminal("chat", "--url", url, home=tmp_path) as screen:
        at = await screen.shows(", conversation ")
        await screen.asks()
        screen.type("/etc/hosts is what?\r")
        at = await screen.shows("You said /etc/hosts is what?.", since=at)
        await screen.asks()
        screen.type("/quit\r")
        short = agent.seen[0][2][:8]
        await screen.shows(
            f"Goodbye. To go on: platform-engineer chat --url {url} --resume {short}", since=at
        )
        assert await screen.ends() == 0
    assert f", conversation {short}" in screen.text


async def test_what_was_typed_before_the_question_of_a_resumed_conversation_is_shown_does_not_answer_it(
    tmp_path,
):
    agent = ScriptedAgent(talking)
    async with serve(agent) as url:
        await run("chat", "--url", url, home=tmp_path, typed="deploy\n")
        context = agent.seen[0][2]
        async with fresh_terminal("chat", "--url", url, "--resume", context[:8], home=tmp_path) as screen:
            screen.type("yes\r")
            await screen.asks()
            at = await screen.shows(
                "What was typed before this question was shown is not taken as its answer."
            )
            assert [text for text, *_ in agent.seen] == ["deploy"]
            screen.type("no\r")
            await screen.shows("You said no.", since=at)
            await screen.asks()
            screen.type("/quit\r")
            assert await screen.ends() == 0


async def test_a_yes_in_a_resumed_conversation_does_not_name_the_question_of_the_one_before(tmp_path):
    DELETED.clear()
    asked = [calls(call("delete", f"c{thing}", what=thing)) for thing in ("alpha", "beta")]
    model = ScriptedModel(script=[*asked, "It is gone."])
    async with running_agent(Depot, model=model) as url:
        first = await run("chat", "--url", url, "--ask", "Delete alpha", "--json", home=tmp_path)
        context = json.loads(first.out.splitlines()[-1])["context_id"]
        typed = f"Delete beta\n/resume {context}\nyes\n"
        done = await run("chat", "--url", url, home=tmp_path, typed=typed)
    assert done.out == "It is gone.\n", done.err
    assert DELETED == ["alpha"]
