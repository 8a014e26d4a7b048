"""A yes that names no task may be late: it approves nothing that a later task of the conversation asks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from a2a.client import Client
from a2a.client.client import ClientCallContext
from a2a.types.a2a_pb2 import CancelTaskRequest, Message
from a2a.utils.errors import A2AError

from tests.e2e.agents.test_plain_clients import CURRENT, question_in, said, serving, state_of
from tests.e2e.agents.test_proven_answers import DELETED, Depot
from tests.e2e.auth.provider import provider
from tests.e2e.wire.ways import asking
from utils.a2a_common.protocol.asked import approval_digest
from utils.a2a_common.protocol.parts import data_part
from utils.messages.approval import says_yes, without_code
from utils.testing.scripted_model import call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

TWO = [
    calls(call("delete", "c1", what="a")),
    "Done.",
    calls(call("delete", "c2", what="b")),
    "Done.",
]
LATE = "this yes does not say which question it answers"


class Hearing(Depot):
    """The depot, which takes a yes in the conversation for the answer to its open question, as a supervisor does."""

    async def is_answer(self, question: str, text: str, data: Sequence[Any]) -> bool:
        """Whether it begins with a yes, or holds a form."""
        return says_yes(text) or says_yes(text.rpartition(" ")[0]) or bool(data)


class Person:
    """Somebody who is known to the agent, in one conversation."""

    def __init__(self, client: Client, token: str) -> None:
        self.client, self.token, self.context = client, token, uuid4().hex

    async def says(self, words: Any, **where: str) -> list[Any]:
        return await said(self.client, asking(words, **{"context_id": self.context, **where}), self.token)

    async def is_asked(self, words: str) -> tuple[str, Message]:
        where, question = question_in(await self.says(words))
        return where["task_id"], question

    async def cancels(self, task_id: str) -> None:
        context = ClientCallContext(service_parameters={"Authorization": f"Bearer {self.token}"})
        await self.client.cancel_task(CancelTaskRequest(id=task_id), context=context)


@asynccontextmanager
async def ann(home: Path, script: Sequence[Any] = TWO) -> AsyncIterator[Person]:
    DELETED.clear()
    async with provider() as idp:
        auth = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuers}
        async with serving(Hearing, script, home, **auth) as it, it.client(CURRENT[0]) as client:
            yield Person(client, idp.token("depot", sub="ann"))


async def test_a_yes_for_a_task_that_was_canceled_does_not_approve_what_the_next_one_asks(
    tmp_path: Path,
) -> None:
    async with ann(tmp_path, [TWO[0], TWO[2], "Done."]) as person:
        first, _ = await person.is_asked("Delete a.")
        await person.cancels(first)
        task, question = await person.is_asked("Delete b.")
        for late in ("yes", "Yes, please!", data_part({"approve": True})):
            with pytest.raises(A2AError, match=LATE):
                await person.says(late)
        assert DELETED == []
        assert state_of(await person.says("yes", task_id=task)) == "TASK_STATE_COMPLETED"
    assert approval_digest(question)
    assert DELETED == ["b"]


async def test_a_yes_that_was_given_before_does_not_approve_what_the_next_task_asks(tmp_path: Path) -> None:
    async with ann(tmp_path) as person:
        await person.is_asked("Delete a.")
        assert state_of(await person.says("yes")) == "TASK_STATE_COMPLETED"
        _, question = await person.is_asked("Delete b.")
        with pytest.raises(A2AError, match=LATE) as refused:
            await person.says("yes")
        (words,) = re.findall(r'reply "(yes [0-9a-f]{6})"', str(refused.value))
        assert without_code(words, words.split()[1]) != words
        assert state_of(await person.says(words)) == "TASK_STATE_COMPLETED"
        assert approval_digest(question)
    assert DELETED == ["a", "b"]


async def test_the_first_question_of_a_conversation_and_every_no_need_no_name(tmp_path: Path) -> None:
    async with ann(tmp_path, ["Hello.", *TWO]) as person:
        await person.says("Hi.")
        await person.is_asked("Delete a.")
        assert state_of(await person.says("yes")) == "TASK_STATE_COMPLETED"
    assert DELETED == ["a"]
