"""Two changes that are approved one after the other in a chat, each with a plain yes: the chat names the question that was read.

What was typed before a question was on the screen answers another one: it approves nothing.
"""

from __future__ import annotations

import pytest

from tests.e2e.agents.test_proven_answers import DELETED, Depot
from tests.e2e.cli.terminal import fresh_terminal
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


async def test_a_plain_yes_to_each_question_that_the_chat_has_shown_approves_it(tmp_path):
    DELETED.clear()
    two = calls(call("delete", "c1", what="alpha"), call("delete", "c2", what="beta"))
    model = ScriptedModel(script=[two, "Both are gone."])
    async with (
        running_agent(Depot, model=model) as url,
        fresh_terminal("chat", "--url", url, home=tmp_path) as screen,
    ):
        await screen.asks()
        screen.type("Delete both\r")
        at = await screen.shows("alpha")
        await screen.asks()
        screen.type("yes\r")
        at = await screen.shows("beta", since=at)
        await screen.asks()
        screen.type("yes\r")
        await screen.shows("Both are gone.", since=at)
        await screen.asks()
        screen.type("/quit\r")
        assert await screen.ends() == 0
    assert DELETED == ["alpha", "beta"]


@pytest.mark.parametrize("typed", ["yes\ryes\r", "yes\nyes\n"], ids=["keys", "a paste of lines"])
async def test_a_yes_that_was_typed_twice_approves_only_the_question_that_was_on_the_screen(tmp_path, typed):
    DELETED.clear()
    two = calls(call("delete", "c1", what="alpha"), call("delete", "c2", what="beta"))
    model = ScriptedModel(script=[two, "Both are gone."])
    async with (
        running_agent(Depot, model=model) as url,
        fresh_terminal("chat", "--url", url, home=tmp_path) as screen,
    ):
        await screen.asks()
        screen.type("Delete both\r")
        at = await screen.shows("alpha")
        await screen.asks()
        screen.type(typed)
        await screen.shows("beta", since=at)  # and the sentence may be on the screen with it
        await screen.shows(
            "What was typed before this question was shown is not taken as its answer.", since=at
        )
        await screen.asks()
        screen.type("/quit\r")
        assert await screen.ends() == 0
    assert DELETED == ["alpha"]
