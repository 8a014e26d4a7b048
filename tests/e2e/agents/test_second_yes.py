"""A yes counts for a question that its sender has read: one that is sent twice approves no second thing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import Message
from a2a.utils.errors import A2AError

from tests.e2e.agents.test_plain_clients import CURRENT, question_in, said, serving, state_of
from tests.e2e.agents.test_proven_answers import DELETED, Depot
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.wire.ways import Served, Way, asking
from utils.a2a_common.protocol.asked import approval_digest
from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.a2a_common.protocol.parts import data_part
from utils.testing.scripted_model import call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

TWO = [calls(call("delete", "c1", what="a"), call("delete", "c2", what="b")), "Done."]


@asynccontextmanager
async def known(home: Path) -> AsyncIterator[tuple[Served, Provider]]:
    """An agent that knows its callers, and deletes two things in one reply of its model."""
    DELETED.clear()
    async with provider() as idp:
        auth = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuers}
        async with serving(Depot, TWO, home, **auth) as it:
            yield it, idp


async def at_the_second(client: Client, ann: str) -> tuple[dict[str, str], Message, Message]:
    """Where the answer goes, the first question, which a plain yes has answered, and the second one."""
    where, first = question_in(await said(client, asking("Do it."), ann))
    _, second = question_in(await said(client, asking("yes", **where), ann))
    assert DELETED == ["a"]
    assert first.message_id != second.message_id
    return where, first, second


def naming(question: Message) -> dict[str, Any]:
    return {QUESTION_EXTENSION: {"answers": question.message_id}}


@pytest.mark.parametrize("way", CURRENT, ids=str)
async def test_the_same_yes_once_more_does_not_approve_the_next_question(way: Way, tmp_path: Path) -> None:
    async with known(tmp_path) as (it, idp), it.client(way) as client:
        ann = idp.token("depot", sub="ann")
        where, _, second = await at_the_second(client, ann)
        for again in ("yes", "Yes, please!", data_part({"approve": True})):
            with pytest.raises(A2AError):
                await said(client, asking(again, **where), ann)
        assert DELETED == ["a"]
        named = asking("yes", metadata=naming(second), **where)
        assert state_of(await said(client, named, ann)) == "TASK_STATE_COMPLETED"
    assert DELETED == ["a", "b"]


async def test_the_refusal_says_how_a_person_names_the_question_in_words(tmp_path: Path) -> None:
    async with known(tmp_path) as (it, idp), it.client(CURRENT[2]) as client:
        ann = idp.token("depot", sub="ann")
        where, _, _ = await at_the_second(client, ann)
        with pytest.raises(A2AError, match="asked another question since your last approval") as refused:
            await said(client, asking("yes", **where), ann)
        (words,) = re.findall(r'reply "(yes [0-9a-f]{6})"', str(refused.value))
        with pytest.raises(A2AError, match="asked another question since your last approval"):
            await said(client, asking("yes 000000", **where), ann)
        assert state_of(await said(client, asking(words, **where), ann)) == "TASK_STATE_COMPLETED"
    assert DELETED == ["a", "b"]


async def test_the_form_with_its_digest_names_the_question_and_a_no_needs_no_name(tmp_path: Path) -> None:
    for filled, deleted in ((True, ["a", "b"]), (False, ["a"])):
        async with known(tmp_path / str(filled)) as (it, idp), it.client(CURRENT[0]) as client:
            ann = idp.token("depot", sub="ann")
            where, _, second = await at_the_second(client, ann)
            form = data_part({"approve": True, "digest": approval_digest(second)})
            done = await said(client, asking(form if filled else "no", **where), ann)
            assert state_of(done) == "TASK_STATE_COMPLETED"
        assert deleted == DELETED


async def test_an_answer_that_names_a_question_which_is_not_open_any_more_is_refused(tmp_path: Path) -> None:
    async with known(tmp_path) as (it, idp), it.client(CURRENT[2]) as client:
        ann = idp.token("depot", sub="ann")
        where, first, _ = await at_the_second(client, ann)
        for words in ("yes", "no"):
            with pytest.raises(A2AError, match="not open any more"):
                await said(client, asking(words, metadata=naming(first), **where), ann)
    assert DELETED == ["a"]
