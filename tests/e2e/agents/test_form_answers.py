"""An answer as data that does not fill the form of the question is refused, and the question stays open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import Part
from a2a.utils.errors import InvalidParamsError

from tests.e2e.agents.peers import Answer, ask, connected, message
from tests.e2e.delegation.teams import Asker, results
from utils.a2a_common.protocol.parts import data_part, encode_part
from utils.a2a_common.protocol.rules import RULES_EXTENSION
from utils.content_parts import DataPart
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@asynccontextmanager
async def asked() -> AsyncIterator[tuple[Client, Answer, ScriptedModel]]:
    """An agent that has asked which city, with a form."""
    model = ScriptedModel(script=[calls(call("where")), "Found 3 places."])
    async with running_agent(Asker, model=model) as url, connected(url) as client:
        yield client, await ask(client, "Find a hotel"), model


class Json:
    """A JSON value of any kind, as a data part."""

    def __init__(self, value: Any) -> None:
        self.part = encode_part(DataPart(value))

    def __repr__(self) -> str:
        return str(self.part.data)


async def answer(client: Client, question: Answer, *parts: Any) -> Answer:
    """Answer with texts, JSON objects and other JSON values."""
    request = message("x", task_id=question.task_id, context_id=question.context_id)
    del request.message.parts[:]
    request.message.parts.extend(
        Part(text=part) if isinstance(part, str) else part.part if isinstance(part, Json) else data_part(part)
        for part in parts
    )
    told = Answer()
    async for event in client.send_message(request):
        told.events.append(event)
    return told


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ([{"stars": "x"}], "city is missing"),
        ([{"city": "Rome", "stars": "x"}], "stars must be a whole number"),
        ([{"city": "Rome"}, {"stars": 2.5}], "stars must be a whole number"),
        (["Rome", {"stars": "x"}], "stars must be a whole number"),
        ([{"city": "Rome", "stars": "3"}], "stars must be a whole number"),
        ([Json(["Rome", 3])], "the data must be an object with the form's fields"),
        ([Json("Rome")], "the data must be an object with the form's fields"),
        ([Json(3)], "the data must be an object with the form's fields"),
        ([Json(None)], "the data must be an object with the form's fields"),
        ([{"city": "Rome"}, Json([3])], "the data must be an object with the form's fields"),
    ],
    ids=str,
)
async def test_the_refusal_names_the_field_and_the_question_stays_open(parts: list[Any], complaint: str):
    async with asked() as (client, question, model):
        with pytest.raises(
            InvalidParamsError, match=f"form of the question: {complaint}. The question stays"
        ):
            await answer(client, question, *parts)
        assert len(model.requests) == 1
        done = await answer(client, question, {"city": "Rome", "stars": 3})
    assert (done.state, done.text) == ("completed", "Found 3 places.")
    assert "'city': 'Rome'" in results(model)[0]


async def test_a_whole_number_reaches_the_agent_as_one():
    async with asked() as (client, question, model):
        await answer(client, question, {"city": "Rome", "stars": 3.0})
    assert "'stars': 3" in results(model)[0]
    assert "3.0" not in results(model)[0]


@pytest.mark.parametrize(
    "parts",
    [
        ["Rome"],
        ["Rome, three stars", {"stars": 3}],
        [{"city": "Rome"}, {"stars": 2}],
        [{"city": "Rome", "view": "sea"}],
        [{RULES_EXTENSION: {"list": True}}],
    ],
    ids=str,
)
async def test_words_and_what_fills_the_form_are_taken(parts: list[Any]):
    async with asked() as (client, question, _model):
        assert (await answer(client, question, *parts)).state == "completed"
