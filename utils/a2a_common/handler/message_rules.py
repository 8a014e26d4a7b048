"""Validates a message before an agent gets it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from a2a.types.a2a_pb2 import Message, Role, SendMessageRequest
from a2a.utils.errors import InvalidParamsError
from google.protobuf.message import Message as ProtoMessage

from utils.a2a_common.handler.required_fields import check_required
from utils.a2a_common.protocol.json_values import MAX_VALUES, complaint_about

MAX_PARTS = 1_000
"""Parts of one message: each is an object that is built, stored and sent again with its task, in the event loop."""

MAX_ID_CHARACTERS = 128
"""Longest context, task or message id and tenant: room for a UUID with a prefix, and fit for an index."""

_ID = re.compile(r"[^\x00-\x1f\x7f]*")


def check_id(name: str, value: str) -> None:
    """Refuse an id that is too long or carries control characters.

    Raises:
        InvalidParamsError: Names the field.
    """
    if len(value) > MAX_ID_CHARACTERS:
        raise InvalidParamsError(f"{name} is longer than {MAX_ID_CHARACTERS} characters.")
    if _ID.fullmatch(value) is None:
        raise InvalidParamsError(f"{name} contains a control character.")


def check_params(params: ProtoMessage) -> None:
    """Refuse the parameters of an operation that are malformed.

    Sizes are looked at first: a message of a hundred thousand parts takes seconds to look through for missing fields.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
    if isinstance(params, SendMessageRequest):
        check_request(params)
    check_required(params)


def check_request(params: SendMessageRequest) -> None:
    """Refuse a request whose message no agent could answer, or that no list of tasks could hold.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
    check_message(params.message)
    _check_length("configuration.acceptedOutputModes", params.configuration.accepted_output_modes)
    _check_values("metadata", params.metadata)


def _check_length(name: str, entries: Sequence[object]) -> None:
    if len(entries) > MAX_PARTS:
        raise InvalidParamsError(f"{name} has more than {MAX_PARTS} entries.")


def _check_values(name: str, value: ProtoMessage) -> None:
    complaint = complaint_about(value, most=MAX_VALUES)
    if complaint is not None:
        raise InvalidParamsError(f"{name} {complaint}.")


def check_message(message: Message) -> None:
    """Refuse a message that no agent could answer, or that no list of tasks could hold.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
    if len(message.parts) > MAX_PARTS:
        raise InvalidParamsError(f"message has more than {MAX_PARTS} parts. Join them.")
    _check_length("message.referenceTaskIds", message.reference_task_ids)
    _check_length("message.extensions", message.extensions)
    _check_values("message", message)
    check_id("message.messageId", message.message_id)
    check_id("message.contextId", message.context_id)
    check_id("message.taskId", message.task_id)
    if message.role != Role.ROLE_USER:
        raise InvalidParamsError("message.role must be ROLE_USER.")
    for index, part in enumerate(message.parts):
        content = part.WhichOneof("content")
        if content is None:
            raise InvalidParamsError(f"message.parts[{index}] has no content: set text, raw, url or data.")
        if content in {"text", "url", "raw"} and not getattr(part, content):
            raise InvalidParamsError(f"message.parts[{index}].{content} is empty.")
        if content == "text" and "\x00" in part.text:
            raise InvalidParamsError(f"message.parts[{index}].text contains a NUL character.")
