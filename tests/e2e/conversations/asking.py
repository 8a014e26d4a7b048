"""Asks an agent for conversations with the SDK's client alone, as any client can."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from a2a.client import Client
from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest
from google.protobuf import json_format, struct_pb2

URI = "urn:platform-engineer:ext:conversations:v1"


def request(**payload: Any) -> SendMessageRequest:
    value = struct_pb2.Value()
    json_format.ParseDict({URI: payload}, value)
    message = Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(data=value)])
    return SendMessageRequest(message=message)


async def asked(client: Client, **payload: Any) -> dict[str, Any]:
    """The payload of the answer, which is one message and no task."""
    (answer,) = [each async for each in client.send_message(request(**payload))]
    assert answer.WhichOneof("payload") == "message"
    sentence, data = answer.message.parts
    assert sentence.text
    told: dict[str, Any] = json_format.MessageToDict(data.data)[URI]
    assert told["action"] == payload["action"]
    return told


def files_with(home: Path, text: str) -> list[str]:
    """The files below a folder that hold a text."""
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]
