"""What a webhook is told, in the version of the protocol that it was registered in. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, Task
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToJson


@dataclass(frozen=True, slots=True)
class Notification:
    """The body of a notification.

    Attributes:
        body: JSON, in UTF-8.
        media_type: The value of its `Content-Type`.
    """

    body: bytes
    media_type: str = "application/a2a+json"


def current(event: Event) -> Notification:
    """An event as protocol 1.0 tells it."""
    return Notification(MessageToJson(to_stream_response(event), indent=None).encode())


def legacy(told: Task | Message) -> Notification:
    """A task or a message as protocol 0.3 tells it: receivers of 0.3 read the whole task, never a single event."""
    from a2a.compat.v0_3 import conversions  # no agent needs these models before such a client calls

    form = (
        conversions.to_compat_message(told) if isinstance(told, Message) else conversions.to_compat_task(told)
    )
    return Notification(form.model_dump_json(by_alias=True, exclude_none=True).encode(), "application/json")
