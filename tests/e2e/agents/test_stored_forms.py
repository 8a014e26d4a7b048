"""What an answer filled a form with is stored as plain data, and read from older checkpoints, which hold the object."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from tests.e2e.agents.peers import ask, connected
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.graph.run.stream_translator import STRUCTURED, StreamTranslator
from utils.events import ArtifactAdded, DataPart
from utils.persistence.checkpoints import open_checkpointer
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Verdict(BaseModel):
    """Whether a release may go out."""

    safe: bool
    reason: str


class Judge(BaseLangGraphAgent):
    """Judges releases."""

    name = "judge"
    description = "Judges releases."
    answer_schema = Verdict


RED: dict[str, Any] = {"safe": False, "reason": "Tests are red."}


@pytest.fixture
def unregistered() -> Iterator[list[str]]:
    """Names of the classes that were read from a checkpoint and that LangGraph does not know."""
    names: list[str] = []

    def note(event: SerdeEvent) -> None:
        names.append(event["name"])

    stop = register_serde_event_listener(note)
    yield names
    stop()


@asynccontextmanager
async def judging(home: Path) -> AsyncIterator[Client]:
    model = ScriptedModel(script=[calls(call("Verdict", **RED)), '{"safe": true, "reason": "Green."}'])
    async with running_agent(Judge, model=model, home=home) as url, connected(url) as client:
        yield client


async def test_a_conversation_with_filled_forms_is_read_without_a_class_that_is_not_known(
    tmp_path: Path, unregistered: list[str]
) -> None:
    async with judging(tmp_path) as client:
        first = await ask(client, "May 1.2 go out?")
        second = await ask(client, "And now?", context_id=first.context_id)
    assert (first.state, second.state) == ("completed", "completed")
    async with open_checkpointer(tmp_path / "judge" / "checkpoints.sqlite") as saver:
        stored = [each async for each in saver.alist(None)]
    filled = [each.checkpoint["channel_values"].get(STRUCTURED) for each in stored]
    assert {"safe": True, "reason": "Green."} in filled
    assert unregistered == []


@pytest.mark.parametrize("strict", [False, True], ids=["read as the object", "read as plain data"])
def test_what_older_checkpoints_hold_is_told_like_what_newer_ones_do(strict: bool) -> None:
    kind, stored = JsonPlusSerializer().dumps_typed(Verdict(**RED))
    reader = JsonPlusSerializer(allowed_msgpack_modules=None) if strict else JsonPlusSerializer()
    held: Any = reader.loads_typed((kind, stored))
    assert isinstance(held, dict if strict else Verdict)
    for value in (held, RED):
        added, _ = StreamTranslator("judge", form="Verdict").repeat(AIMessage(""), value)
        assert added == ArtifactAdded([DataPart(RED)], name="Verdict", id="answer")
