from __future__ import annotations

from typing import Any, get_args

from a2a.types import (
    AgentCard,
    AgentInterface,
    Artifact,
    Part,
    StreamResponse,
    TaskArtifactUpdateEvent,
)
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from multi_agents.cli.peer.connection import loopback_problem
from multi_agents.cli.view.json_lines import as_json
from multi_agents.cli.view.parts import message_text
from utils.a2a_common.client.stream.decode import decode, decode_parts
from utils.a2a_common.client.stream.events import ArtifactChanged
from utils.a2a_common.protocol.extensions import _KINDS
from utils.events import Activity, PlanUpdated
from utils.net.loopback import is_loopback


def artifact(name: str, part: Part) -> StreamResponse:
    update = TaskArtifactUpdateEvent(artifact=Artifact(artifact_id="1", name=name, parts=[part]))
    return StreamResponse(artifact_update=update)


def data(value: dict[str, Any]) -> Part:
    return Part(data=ParseDict(value, Value()))


def test_a_plan_is_read_and_put_in_order():
    steps = [
        {"id": "b", "title": "B", "agent": "x", "status": "pending", "order": 2},
        {"id": "a", "title": "A", "agent": "x", "status": "working", "order": 1},
    ]
    (event,) = decode(artifact("plan", data({"steps": steps})))
    assert isinstance(event, PlanUpdated)
    assert [step.title for step in event.steps] == ["A", "B"]


def test_what_is_called_plan_but_is_none_is_shown_as_what_it_is():
    (event,) = decode(artifact("plan", Part(text="first this, then that")))
    shown = {"artifact_id": "1", "name": "plan", "text": "first this, then that", "append": False}
    assert as_json(event) == {"event": "text", **shown}
    (event,) = decode(artifact("plan", data({"steps": [{"id": 1}]})))
    assert isinstance(event, ArtifactChanged)
    assert '"steps"' in as_json(event)["text"]


def test_parts_that_are_no_text_are_named():
    parts = [
        Part(text="look:"),
        Part(raw=b"1234", filename="a.bin", media_type="application/x"),
        Part(url="https://x.example/f", filename="f"),
        data({"k": 1}),
    ]
    text = message_text(decode_parts(parts))
    assert "[file a.bin: application/x, 4 bytes]" in text
    assert "[f](https://x.example/f)" in text
    assert '"k": 1' in text


def test_a_card_from_elsewhere_must_not_name_this_machine():
    local = AgentCard(supported_interfaces=[AgentInterface(url="http://127.0.0.1:8001/")])
    assert "PUBLIC_URL" in (loopback_problem("https://agents.example", local) or "")
    assert loopback_problem("http://localhost:8001", local) is None


def test_loopback_is_known_in_all_its_spellings():
    yes = [
        "http://localhost:1",
        "http://127.0.0.1",
        "http://127.9.9.9",
        "http://[::1]:80",
        "http://a.localhost",
    ]
    assert all(map(is_loopback, yes))
    assert not any(map(is_loopback, ["http://10.0.0.1", "https://localhost.example", "http://[2001:db8::1]"]))


def test_every_activity_has_a_kind_on_the_wire():
    assert set(_KINDS.values()) == set(get_args(Activity))
