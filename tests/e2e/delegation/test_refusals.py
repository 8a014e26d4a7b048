"""An agent that refuses or fails says why, and stays available to others."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.utils.errors import A2AError, InternalError, InvalidParamsError, UnsupportedOperationError

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.cli.scripted_agent import Script, Turn
from tests.e2e.delegation.foreign import ending, foreign
from tests.e2e.delegation.teams import model, results, supervising
from utils.a2a_common.client.transport.sentences import MAY_HAVE_DONE_IT
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

HIDDEN = "on\u202e week\x1b[2Jdays\u200b only"
LONG = "because " * 2_000


def raising(error: A2AError, good: int = 10) -> Script:
    """Refuses each request but the ones after the first `good`."""
    asked = 0

    async def script(turn: Turn) -> None:
        nonlocal asked
        asked += 1
        if asked <= good:
            raise error
        await turn.task()
        await turn.chunk("At your service.", append=False, last=True)
        await turn.status("completed")

    return script


async def asked_for(script: Script, times: int = 1) -> tuple[list[str], Answer, ScriptedModel]:
    """What the supervisor's model read of an agent, each time; and the last answer."""
    steps: list[Any] = []
    for number in range(times):
        steps += [calls(call("catering", f"c{number}", request=f"Order {number}")), "I am done."]
    top = model(steps)
    async with (
        foreign(script) as agent,
        supervising({"catering": agent.url}, top) as url,
        connected(url) as client,
    ):
        for number in range(times):
            answer = await ask(client, f"Order {number}")
    return [results(top, 2 * number + 1)[-1] for number in range(times)], answer, top


@pytest.mark.parametrize("error", [InvalidParamsError, UnsupportedOperationError])
async def test_a_refusal_is_told_in_the_agents_own_words(error: type[A2AError]) -> None:
    (told,), _, _ = await asked_for(raising(error("I only order food on weekdays.")))
    assert "The catering agent refused the request." in told
    assert 'It said: \\"I only order food on weekdays.\\"' in told
    assert '"error":"sub_agent_refused"' in told
    assert "cannot be reached" not in told


async def test_refusals_do_not_make_an_agent_unavailable() -> None:
    told, answer, _ = await asked_for(raising(InvalidParamsError("No."), good=4), times=5)
    assert all("refused the request" in each for each in told[:4])
    assert told[4] == "At your service."
    assert answer.state == "completed"


async def test_an_error_inside_an_agent_is_its_failure_and_no_broken_line() -> None:
    told, _, _ = await asked_for(raising(InternalError("secret traceback"), good=4), times=5)
    assert all(f"The catering agent failed. {MAY_HAVE_DONE_IT}" in each for each in told[:4])
    assert all('"error":"unknown_outcome"' in each for each in told[:4])
    assert "secret traceback" not in "".join(told)
    assert "cannot be reached" not in "".join(told)
    assert told[4] == "At your service."


@pytest.mark.parametrize("state", ["rejected", "canceled"])
async def test_the_reason_of_an_agent_that_ends_a_task_is_kept(state: str) -> None:
    (told,), answer, _ = await asked_for(ending(state, "I only order food on weekdays."))
    sentence = f'The catering agent ended the task as {state}. It said: "I only order food on weekdays."'
    assert sentence.replace('"', '\\"') in told
    assert answer.state == "failed"


@pytest.mark.parametrize("state", ["rejected", "failed"])
async def test_what_an_agent_gives_as_a_reason_is_cut_and_cleaned(state: str) -> None:
    (told,), _, _ = await asked_for(ending(state, f"{HIDDEN} {LONG}"))
    assert "on week[2Jdays only because" in told
    assert len(told) < 1_500


async def test_an_agent_that_sends_what_no_task_can_carry_is_told_apart_and_stored_nowhere() -> None:
    nested: Any = "bottom"
    for _ in range(26):
        nested = {"in": nested}

    async def script(turn: Turn) -> None:
        await turn.task()
        await turn.activity(kind="tool_started", deep=nested)
        await turn.chunk("Done.", append=False, last=True)
        await turn.status("completed")

    (told,), answer, _ = await asked_for(script)
    assert "The catering agent's answer holds a value that is nested deeper than 24 levels." in told
    assert '"error":"protocol_violation"' in told
    assert "nested deeper than 24 levels" in answer.last_words


async def test_an_agent_that_fails_without_a_word_may_have_done_its_work() -> None:
    (told,), answer, _ = await asked_for(ending("failed", ""))
    assert f'"message":"The catering agent failed. {MAY_HAVE_DONE_IT}"' in told
    assert '"error":"unknown_outcome"' in told
    assert answer.state == "failed"
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "unknown_outcome"
