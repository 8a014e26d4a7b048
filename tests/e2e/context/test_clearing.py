"""What a conversation holds, told with each answer; and a conversation that is forgotten, over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import Part
from google.protobuf import json_format, struct_pb2

from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from utils.a2a_common.base_langgraph_agent import CLEARED
from utils.a2a_common.execution.request_parser import thread_id
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, parse_context
from utils.a2a_common.protocol.request import Caller
from utils.persistence.artifacts import SqliteArtifactStore
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, calls
from utils.testing.scripted_model import call as tool_call

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def clear(client: Any, context_id: str) -> Answer:
    request = message("Forget everything.", context_id=context_id)
    value = json_format.ParseDict({CONTEXT_EXTENSION: {"clear": True}}, struct_pb2.Value())
    request.message.parts.append(Part(data=value))
    return Answer([event async for event in client.send_message(request)])


async def test_the_last_status_tells_what_the_last_model_request_held() -> None:
    script = [calls(tool_call("lookup", key="a")), "It is a."]
    async with running_agent(Keys, model=ScriptedModel(script=script)) as url, connected(url) as client:
        answer = await ask(client, "Never touch production. What is the value of a?")
    (payload,) = answer.metadata(CONTEXT_EXTENSION)
    held = parse_context(payload)
    assert held is not None
    assert list(held.by_kind) == ["system", "tools", "pinned", "summary", "tail"]
    assert held.by_kind["pinned"] > 0
    assert held.by_kind["summary"] == 0
    assert 0 < sum(held.by_kind.values()) < held.limit < held.window


async def test_a_cleared_conversation_is_gone_with_its_stored_texts(tmp_path: Path) -> None:
    model = ScriptedModel(script=["Understood.", "Hello."])
    async with running_agent(Keys, model=model, home=tmp_path) as url, connected(url) as client:
        first = await ask(client, "Never touch production.")
        scope = thread_id(Keys.name, Caller(), first.context_id)
        store = SqliteArtifactStore(tmp_path / Keys.name / "artifacts.sqlite")
        await store.put(scope, {"art_0123456789ab": "a text"})
        cleared = await clear(client, first.context_id)
        again = await ask(client, "Hello?", context_id=first.context_id)
        kept = await store.get(scope, "art_0123456789ab")
    assert (cleared.state, cleared.text) == ("completed", CLEARED)
    assert again.state == "completed"
    assert "production" not in str(model.requests[-1].messages)
    assert len(model.requests) == 2
    assert kept is None
