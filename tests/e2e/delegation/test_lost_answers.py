"""A change that an agent may have made is not asked for again, and everybody is told that it may have been made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.cli.command import run
from tests.e2e.delegation.payer import Loss, Payer, cut, empty, page, paying
from tests.e2e.delegation.teams import model, results, supervising
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

LOOK_FIRST = "It may have done what it was asked. Check whether it did before you ask again."
NO_JSON = (
    'What is wrong: "Invalid JSON-RPC response in SSE stream: Expecting value: line 1 column 1 (char 0)".'
)
LOSSES: dict[str, tuple[Loss, str]] = {
    "a gateway gives up": (page(504), f"The answer of the pay agent was lost. {LOOK_FIRST}"),
    "a page": (page(200), f"The pay agent answered with something that is not A2A. {NO_JSON} {LOOK_FIRST}"),
    "a stream that is cut": (cut, f"The answer of the pay agent was lost. {LOOK_FIRST}"),
    "an empty stream": (empty, f"The pay agent stopped answering. {LOOK_FIRST}"),
}


@pytest.mark.parametrize(("loss", "sentence"), LOSSES.values(), ids=LOSSES)
async def test_a_request_whose_answer_was_lost_is_made_once_and_its_outcome_is_told_as_unknown(
    loss: Loss, sentence: str
) -> None:
    supervisor = model([calls(call("pay", request="Pay bill 7")), "I do not know whether it was paid."])
    agent = Payer(loss)
    async with (
        paying(agent) as pay,
        supervising({"pay": pay}, supervisor) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Pay bill 7")
    problem = json.loads(results(supervisor, 1)[0])
    assert len(agent.paid) == 1
    assert (problem["error"], problem["retryable"], problem["message"]) == (
        "unknown_outcome",
        False,
        sentence,
    )
    assert problem["note"].startswith("Do not make the change again.")
    assert (answer.state, answer.last_words) == ("failed", sentence)
    assert answer.text == "I do not know whether it was paid."


async def test_an_agent_that_is_asked_from_the_command_line_is_asked_once(tmp_path: Path) -> None:
    agent = Payer(page(504))
    async with paying(agent) as url:
        asked = await run("chat", "--url", url, "--ask", "Pay bill 7", home=tmp_path)
    assert len(agent.paid) == 1
    assert asked.code == 4
    assert f"was lost. {LOOK_FIRST}" in asked.err
