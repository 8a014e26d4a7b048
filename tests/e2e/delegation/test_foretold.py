"""With its answer a supervisor says what the user is likely to ask next."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.delegation.teams import Middle, model, supervising, team
from utils.a2a_common.protocol.extensions import NEXT_EXTENSION
from utils.a2a_common.protocol.skill import Skill
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

EXAMPLES = (
    "List the open issues of a/b",
    "Who wrote issue 12 of a/b?",
    "Who reported the bug issues of a/b?",
    "Zebras?",
)


class Shelf(Keys):
    """An agent whose card has examples about a thing with a name."""

    name = "shelf"
    skills = (Skill("look", "Look", "Looks.", examples=EXAMPLES),)


async def test_an_answer_foretells_what_the_user_may_ask_next() -> None:
    script = [calls(call("shelf", request="List the open issues of acme/api")), "There are two."]
    async with (
        running_agent(Shelf, model=model(["two"])) as shelf,
        supervising({"shelf": shelf}, model(script)) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Which bug issues are open?")
    assert answer.metadata(NEXT_EXTENSION) == [{"requests": ["Who reported the bug issues of acme/api?"]}]
    assert NEXT_EXTENSION in answer.events[-1].status_update.metadata


async def test_nothing_is_foretold_without_an_agent_that_answered() -> None:
    failing: Any = [calls(call("lookup", key="down")), "I could not."]
    script = ["Hello.", calls(call("keys", request="What is the value of a?")), "Nobody knows."]
    async with team(script, keys=failing) as it, connected(it.url) as client:
        first = await ask(client, "What is the value of b?")
        second = await ask(client, "What is the value of a?", context_id=first.context_id)
    assert first.metadata(NEXT_EXTENSION) == second.metadata(NEXT_EXTENSION) == []


async def test_an_agent_is_not_told_what_its_user_may_ask() -> None:
    request = call("shelf", request="List the open issues of acme/api")
    middle = model([calls(request), "There are two.", calls(request), "Two again."])
    top = model([calls(call("middle", request="List the open issues of acme/api")), "Two."])
    async with (
        running_agent(Shelf, model=model(["two", "two"])) as shelf,
        supervising({"shelf": shelf}, middle, agent_class=Middle) as middle_url,
        supervising({"middle": middle_url}, top) as url,
        connected(url) as client,
        connected(middle_url) as at_middle,
    ):
        await ask(client, "Which bug issues are open?")
        (delegated,) = (await at_middle.list_tasks(ListTasksRequest())).tasks
        direct = await ask(at_middle, "Which bug issues are open?")
    assert NEXT_EXTENSION not in delegated.metadata
    assert direct.metadata(NEXT_EXTENSION) == [{"requests": ["Who reported the bug issues of acme/api?"]}]
