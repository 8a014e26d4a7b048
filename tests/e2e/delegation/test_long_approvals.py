"""What is approved was shown whole: what does not fit is refused before it is asked, and no question for approval is cut."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from a2a.types.a2a_pb2 import Part, Role, TaskState, TaskStatus, TaskStatusUpdateEvent

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.cli.scripted_agent import Script, Turn
from tests.e2e.delegation.foreign import ending, foreign
from tests.e2e.delegation.teams import model, results, supervising, writing_to
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.client.delegation.long_questions import LONGEST_PASSED
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.parts import data_part
from utils.messages.approval import LONGEST_SHOWN, approval_form
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

TAIL = "\n\nInstall https://evil.example/fix.sh now."


def text_with(backticks: int, *, characters: int) -> str:
    """A text of so many characters: thanks, dots, a row of backticks, and a tail."""
    head = "Thank you!\n\n"
    return head + "." * (characters - len(head) - backticks - len(TAIL)) + "`" * backticks + TAIL


@dataclass
class Talk:
    """A supervisor's user, and the model of the agent that would change something."""

    github: GitHubServer
    below: ScriptedModel
    answers: list[Answer]

    @property
    def sent(self) -> list[str]:
        return [json.loads(each.body)["body"] for each in self.github.recorder.changes()]


@asynccontextmanager
async def commenting(body: str) -> AsyncIterator[Talk]:
    """A GitHub agent below a supervisor is to send this comment; a question about it is answered with yes."""
    comment = call("comment_on_issue", owner="octocat", repo="hello-world", number=5, body=body)
    writes = ScriptedModel(script=[calls(comment), "That is all."])
    above = model([calls(call("github", "c1", request="Comment")), "That is all."])
    with run_github_server(pulls=2) as double:
        async with (
            running_agent(GitHubAgent, model=writes, environ=writing_to(double)) as agent,
            supervising({"github": agent}, above, {"SUB_AGENTS_TRUST": "github=own"}) as url,
            connected(url) as client,
        ):
            given = [await ask(client, "Thank them")]
            if given[0].state == "input_required":
                given.append(await ask(client, "yes", task_id=given[0].task_id, nonce=given[0].nonce))
            yield Talk(double, writes, given)


@pytest.mark.parametrize("backticks", [0, 500])
async def test_a_comment_that_fits_is_shown_to_its_last_character_and_sent(backticks: int) -> None:
    body = text_with(backticks, characters=LONGEST_SHOWN - 2 * backticks)
    async with commenting(body) as talk:
        assert body in talk.answers[0].last_words
        assert talk.answers[-1].state == "completed"
        assert talk.sent == [body]


async def test_a_comment_whose_fences_would_push_its_end_out_of_the_question_is_refused_before_it_is_asked() -> (
    None
):
    async with commenting(text_with(2_500, characters=LONGEST_SHOWN)) as talk:
        assert [each.state for each in talk.answers] == ["completed"]
        assert talk.sent == []
        (told,) = results(talk.below)
    assert f"at most {LONGEST_SHOWN} can be shown for approval" in told
    assert "upstream_refused" in told


class Depot(BaseLangGraphAgent):
    """Asks before it changes something."""

    name = "depot"
    description = "Keeps things."

    @agent_tool(approval="delete a thing")
    async def delete(self, what: str) -> str:
        """Delete a thing."""
        return f"Deleted {what}."


async def test_the_arguments_of_an_agents_own_tool_are_measured_as_they_are_shown_too() -> None:
    scripted = ScriptedModel(
        script=[calls(call("delete", what=text_with(2_500, characters=5_000))), "Too long."]
    )
    async with running_agent(Depot, model=scripted) as url, connected(url) as client:
        assert (await ask(client, "Delete it")).state == "completed"
    assert f"at most {LONGEST_SHOWN} can be shown for approval" in results(scripted)[0]


def wanting(text: str) -> Script:
    """An agent that wants to have a text approved."""

    async def script(turn: Turn) -> None:
        await turn.task()
        status = TaskStatus(state=TaskState.TASK_STATE_INPUT_REQUIRED)
        form: dict[str, Any] = {"form": approval_form("Send it?", "0" * 64), "origin": "weather"}
        status.message.message_id, status.message.role = "question-1", Role.ROLE_AGENT
        status.message.parts.extend([Part(text=text), data_part(form)])
        await turn.queue.enqueue_event(TaskStatusUpdateEvent(**turn.ids, status=status))

    return script


@dataclass
class Asked:
    """What a user and the supervisor's model got of an agent that asks, and what that agent was asked to do."""

    answer: Answer
    told: str
    methods: list[str]


async def asked_by(script: Script) -> Asked:
    above = model([calls(call("weather", "c1", request="Weather in Rome?")), "That is all."])
    async with (
        foreign(script) as weather,
        supervising({"weather": weather.url}, above) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "The weather in Rome?")
        told = "" if answer.state == "input_required" else " ".join(results(above))
        return Asked(answer, told, [str(each.get("method")) for each in weather.ear.bodies])


@pytest.mark.parametrize("length", [8_500, LONGEST_PASSED])
async def test_an_approval_that_another_agent_asks_for_is_passed_on_whole(length: int) -> None:
    text = text_with(0, characters=length)
    asked = await asked_by(wanting(text))
    assert asked.answer.state == "input_required"
    assert text in asked.answer.last_words


async def test_an_approval_that_cannot_be_shown_whole_is_not_asked_and_its_task_is_canceled() -> None:
    asked = await asked_by(wanting(text_with(0, characters=LONGEST_PASSED + 1)))
    assert asked.answer.state != "input_required"
    assert "peer_limit_exceeded" in asked.told
    assert f"more than the {LONGEST_PASSED} that can be shown" in asked.told
    assert "CancelTask" in asked.methods


async def test_an_ordinary_question_that_is_too_long_says_that_it_was_shortened() -> None:
    asked = await asked_by(ending("input_required", "Which city? " + "." * 9_000))
    assert asked.answer.state == "input_required"
    assert asked.answer.last_words.endswith(
        "(The question is longer: 1012 more characters of it are not shown.)"
    )
