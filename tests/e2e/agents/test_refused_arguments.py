"""A value that a tool's schema refuses is a sentence to model and user, and never the text of a library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import pytest
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, Field

from tests.e2e.agents.peers import Answer, Keys, ask, connected
from tests.e2e.agents.test_delegation import results, team
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SECRET = "long words of the user " * 200


class _Inner(BaseModel):
    number: int


@tool
async def find(
    query: Annotated[str, Field(max_length=2000)],
    state: Literal["open", "closed"] = "open",
    limit: Annotated[int, Field(ge=1)] = 5,
) -> str:
    """Finds something."""
    if query == "bug":
        _Inner.model_validate({"number": "secret detail"})
    return f"found {query} {state} {limit}"


class Finder(Keys):
    """An agent with a tool that is particular about its arguments."""

    name = "finder"
    description = "Finds."

    async def tools(self) -> Sequence[BaseTool]:
        return [find]


async def turn(*script: object) -> tuple[Answer, str]:
    """The answer, and the first tool result that the model saw."""
    model = ScriptedModel(script=list(script))
    async with running_agent(Finder, model=model) as url, connected(url) as client:
        answer = await ask(client, "find it")
    return answer, str(model.requests[1].messages[-1].content)


async def test_after_a_refused_value_the_answer_is_what_the_model_says_of_it() -> None:
    answer, seen = await turn(calls(call("find", query=SECRET)), "Which shorter words shall I look for?")
    sentence = f"The tool find was not run: query has {len(SECRET)} characters, and at most 2000 are allowed."
    assert (answer.state, answer.text) == ("completed", "Which shorter words shall I look for?")
    assert answer.metadata(ERROR_EXTENSION) == []
    assert sentence in seen
    assert "long words" not in seen
    assert answer.activity[1]["status"] == "error"


async def test_a_refused_value_excuses_no_call_that_failed() -> None:
    answer, _ = await turn(
        calls(call("find")), calls(call("find", "c2", query="bug")), "It does not work at the moment."
    )
    assert (answer.state, answer.text) == ("failed", "It does not work at the moment.")
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "internal_error"


async def test_a_model_that_mends_its_call_completes() -> None:
    answer, seen = await turn(
        calls(call("find", query="a", state="ajar", limit=0)), calls(call("find", "c2", query="a")), "Found."
    )
    assert (
        "state: Input should be 'open' or 'closed'; limit: Input should be greater than or equal to 1" in seen
    )
    assert (answer.state, answer.text) == ("completed", "Found.")


async def test_a_missing_argument_is_named() -> None:
    _, seen = await turn(calls(call("find")), "It did not work.")
    assert "The tool find was not run: query is missing." in seen
    assert "runtime" not in seen


async def test_an_error_of_validation_inside_a_tool_is_a_bug_and_not_the_callers_mistake() -> None:
    answer, seen = await turn(calls(call("find", query="bug")), "It did not work.")
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "internal_error"
    assert "secret detail" not in seen + answer.last_words


async def test_a_supervisor_is_told_the_same_about_its_delegations() -> None:
    script = [calls(call("keys", wish="x")), "It did not work."]
    async with team(script, keys=[]) as (url, models, _), connected(url) as client:
        answer = await ask(client, "Tell me about a")
    assert (answer.state, answer.text) == ("completed", "It did not work.")
    assert "request is missing" in results(models["supervisor"], 1)[0]


async def test_a_delegation_that_asks_nothing_is_sent_to_nobody() -> None:
    script = [calls(call("keys", request=" \n")), "What do you want to know of the keys?"]
    async with team(script, keys=[]) as (url, models, _), connected(url) as client:
        answer = await ask(client, "Keys")
    assert (answer.state, answer.text) == ("completed", "What do you want to know of the keys?")
    assert "say what the agent shall do" in results(models["supervisor"], 1)[0]
    assert models["keys"].requests == []
