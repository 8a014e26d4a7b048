"""What agents are told of a conversation: as much as our configuration says of them, whatever their cards say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.e2e.agents.peers import Answer, Keys, ask, connected
from tests.e2e.delegation.foreign import TEXT, Foreign, answering, foreign
from tests.e2e.delegation.teams import model, supervising
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SECRET = "PRIVATE: the password of production is hunter2"
NOTHING: dict[str, Any] = {"previous_results": [], "conversation_history": [], "user": {}}


@asynccontextmanager
async def told(shares: str = "", trust: str = "", **card: Any) -> AsyncIterator[tuple[Foreign, Answer]]:
    """A foreign agent that is asked in the second turn of a conversation, after an agent of ours told a secret."""
    script = [
        calls(call("keys", "c1", request="Read the password")),
        "It was read.",
        calls(call("weather", "c2", request="Weather in Rome?")),
        "Sunny.",
    ]
    environ = {"SUB_AGENTS_SHARES": shares, "SUB_AGENTS_TRUST": trust}
    async with (
        running_agent(Keys, model=model([SECRET])) as keys,
        foreign(answering("Sunny."), **card) as weather,
        supervising({"keys": keys, "weather": weather.url}, model(script), environ) as url,
        connected(url) as client,
    ):
        first = await ask(client, "I am Ada. Read the password of production.")
        answer = await ask(
            client, "Plan my secret wedding: the weather in Rome?", context_id=first.context_id
        )
        yield weather, answer


async def test_an_agent_that_is_not_ours_is_told_its_sub_task_alone() -> None:
    async with told() as (weather, answer):
        scope: dict[str, Any] = weather.scope() or {}
        sent = " ".join(weather.strings)
    assert answer.text == "Sunny."
    assert scope["original_request"] == "Weather in Rome?"  # the sub-task itself: what it was sent as text
    assert scope | NOTHING == scope
    assert (scope["current_subtask_index"], scope["total_subtasks"]) == (1, 1)
    assert scope["deadline_seconds"] > 0
    for private in ("hunter2", "wedding", "Ada", "Read the password"):
        assert private not in sent
    assert [hop["digest"] for hop in scope["trail"]] == [""]  # a digest of words can be guessed from


async def test_an_agent_may_be_told_the_original_request_without_results() -> None:
    async with told("weather=request") as (weather, _):
        scope: dict[str, Any] = weather.scope() or {}
    assert scope["original_request"] == "Plan my secret wedding: the weather in Rome?"
    assert scope | NOTHING == scope
    assert "hunter2" not in " ".join(weather.strings)


async def test_an_agent_that_is_trusted_with_results_is_told_all() -> None:
    async with told("keys=results, weather=results") as (weather, _):
        scope: dict[str, Any] = weather.scope() or {}
    assert scope["previous_results"][0]["result"] == SECRET
    assert scope["conversation_history"][0]["content"].startswith("I am Ada.")
    assert scope["original_request"].startswith("Plan my secret wedding")


@pytest.mark.parametrize("shares", ["", "weather=results"])
async def test_an_agent_that_takes_text_alone_is_sent_text_alone_and_answers(shares: str) -> None:
    async with told(shares, modes=TEXT, extensions=()) as (weather, answer):
        assert weather.messages[-1]["parts"] == [{"text": "Weather in Rome?"}]
    assert (answer.state, answer.text) == ("completed", "Sunny.")


async def test_an_agent_that_does_not_know_the_scope_is_sent_it_only_where_it_is_told_more() -> None:
    async with told(extensions=()) as (weather, _):
        assert weather.scope() is None
    async with told("weather=results", extensions=()) as (weather, _):
        assert (weather.scope() or {})["previous_results"]


async def test_a_foreign_agent_is_never_told_what_another_foreign_agent_said() -> None:
    shares = "keys=results, weather=results"
    async with told(shares, "keys=foreign, weather=foreign") as (weather, _):
        scope: dict[str, Any] = weather.scope() or {}
        assert "hunter2" not in " ".join(weather.strings)
    assert scope["previous_results"] == []
    assert [remark["role"] for remark in scope["conversation_history"]] == ["user"]
    assert scope["original_request"].startswith("Plan my secret wedding")
    async with told(shares, "keys=own, weather=foreign") as (weather, _):
        assert SECRET in " ".join(weather.strings), (
            "what our own agents said may be told where results are shared"
        )
