"""A later sub-task that quotes an earlier result by reference, over A2A."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.delegation.teams import model, results, supervising
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

LONG = "row 1\n" + "x" * 30_000 + "\nthe last row"


def asked(scripted: ScriptedModel, request: int = -1) -> str:
    """What the agent's model read as the user's request."""
    human: Any = [each for each in scripted.requests[request].messages if each.type == "human"][-1]
    return str(human.text)


async def test_a_later_request_quotes_a_result_by_reference_and_an_unknown_one_is_empty() -> None:
    keys = model([LONG, "summed up", "again"])
    boss = model(
        [
            calls(call("keys", "c1", request="What is a?")),
            calls(call("keys", "c2", request="Sum up <{result:keys.1}{result:nobody.7}>")),
            "Done.",
            calls(call("keys", "c3", request="Once more: {result:keys.2}")),
            "Done again.",
        ]
    )
    async with (
        running_agent(Keys, model=keys) as keys_url,
        supervising({"keys": keys_url}, boss) as url,
        connected(url) as client,
    ):
        first = await ask(client, "What is a, in short?")
        second = await ask(client, "And again?", context_id=first.context_id)
    assert (first.text, second.text) == ("Done.", "Done again.")
    assert asked(keys, 1) == f"Sum up <{LONG}>"  # the whole text, though the supervisor's model saw a part
    assert asked(keys, 2) == "Once more: summed up"
    assert "read_tool_output" in results(boss, 1)[0] or len(results(boss, 1)[0]) < len(LONG)


async def test_a_request_of_unknown_references_alone_is_sent_with_a_sentence() -> None:
    keys = model(["What do you mean?"])
    boss = model([calls(call("keys", request="{result:keys.9}")), "Done."])
    async with (
        running_agent(Keys, model=keys) as keys_url,
        supervising({"keys": keys_url}, boss) as url,
        connected(url) as client,
    ):
        assert (await ask(client, "Go")).text == "Done."
    assert asked(keys) == "The result that this request refers to does not exist."
