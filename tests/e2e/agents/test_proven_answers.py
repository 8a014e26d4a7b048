"""An approval is given with the nonce of its question, whatever was asked before it, and never without."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.utils.errors import A2AError

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.teams import supervising
from tests.rows import mostly_long
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls


class Depot(BaseLangGraphAgent):
    """An agent that asks something ordinary, and asks before it changes something."""

    name = "depot"
    description = "Keeps things."
    deleted: list[str]

    async def start(self) -> None:
        """Open what the tools use."""
        self.deleted = DELETED

    @agent_tool()
    async def find(self, what: str) -> str:
        """Find a thing."""
        return f"{what} is in {ask_user(f'Where is {what}?').text}"

    @agent_tool(approval="delete a thing")
    async def delete(self, what: str) -> str:
        """Delete a thing."""
        self.deleted.append(what)
        return "Deleted."

    @agent_tool(approval="move a thing")
    async def move(self, what: str) -> str:
        """Move a thing, once the user says where to."""
        self.deleted.append(f"{what} to {ask_user('Where to?').text}")
        return "Moved."


DELETED: list[str] = []
FIND, DELETE = call("find", "c1", what="a"), call("delete", "c2", what="b")
ORDERS: dict[str, tuple[list[Any], list[str], list[str]]] = {
    "a question, then an approval": ([calls(FIND), calls(DELETE)], ["the hall", "yes"], ["b"]),
    "both in one reply": ([calls(FIND, DELETE)], ["the hall", "yes"], ["b"]),
    "an approval, then a question": ([calls(DELETE), calls(FIND)], ["yes", "the hall"], ["b"]),
    "an approval, a question and an approval": (
        [calls(DELETE), calls(FIND), calls(call("delete", "c3", what="c"))],
        ["yes", "the hall", "yes"],
        ["b", "c"],
    ),
    "a question within an approved call": ([calls(call("move", what="d"))], ["yes", "Rome"], ["d to Rome"]),
}


@asynccontextmanager
async def depot(replies: list[Any], home: Path, *, below: bool) -> AsyncIterator[Client]:
    """A client of the agent, or of a supervisor above it, in a folder that outlives both."""
    model = ScriptedModel(script=[*replies, "Done."])
    async with running_agent(Depot, model=model, home=home / "depot") as url:
        if not below:
            async with connected(url) as client:
                yield client
            return
        script = ScriptedModel(script=[calls(call("depot", request="Do it.")), "That is all."])
        async with (
            supervising({"depot": url}, script, {"SUB_AGENTS_TRUST": "depot=own"}, home / "above") as above,
            connected(above) as client,
        ):
            yield client


async def answered(client: Client, *words: str) -> list[Answer]:
    """Begin a task and answer its questions in turn, each with the nonce that came with it."""
    given = [await ask(client, "Do it.")]
    for each in words:
        assert given[-1].state == "input_required"
        where = {"task_id": given[0].task_id, "nonce": given[-1].nonce}
        given.append(await ask(client, each, **where))
    return given


@pytest.mark.parametrize("below", [False, True], ids=["alone", "supervised"])
@pytest.mark.parametrize("order", mostly_long(ORDERS, 2))
async def test_an_approval_is_given_with_the_nonce_of_its_question_in_every_order_of_questions(
    order: str, below: bool, tmp_path: Path
) -> None:
    DELETED.clear()
    replies, words, deleted = ORDERS[order]
    async with depot(replies, tmp_path, below=below) as client:
        given = await answered(client, *words)
    assert given[-1].state == "completed"
    assert deleted == DELETED
    nonces = [each.nonce for each in given[:-1]]
    assert [len(each) for each in nonces] == [64] * len(words)
    assert len(set(nonces)) == len(words)


async def test_an_approval_after_a_question_is_given_after_a_restart_as_well(tmp_path: Path) -> None:
    DELETED.clear()
    async with depot([calls(FIND)], tmp_path, below=False) as client:
        asked = await ask(client, "Do it.")
    async with depot([calls(DELETE)], tmp_path, below=False) as client:
        again = await ask(client, "the hall", task_id=asked.task_id, nonce=asked.nonce)
    async with depot([], tmp_path, below=False) as client:
        last = await ask(client, "yes", task_id=asked.task_id, nonce=again.nonce)
    assert last.state == "completed"
    assert DELETED == ["b"]


async def test_an_answer_without_proof_gets_no_nonce_and_approves_nothing_afterwards(tmp_path: Path) -> None:
    DELETED.clear()
    async with depot([calls(FIND), calls(DELETE)], tmp_path, below=False) as client:
        asked = await ask(client, "Do it.")
        other = await ask(client, "the hall", task_id=asked.task_id)
        assert (other.state, other.nonce) == ("input_required", "")
        for wrong in ("", asked.nonce):
            with pytest.raises(
                A2AError, match="only the browser tab, terminal or program that sent the request"
            ):
                await ask(client, "yes", task_id=asked.task_id, nonce=wrong)
    assert DELETED == []
