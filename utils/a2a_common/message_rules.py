"""What a message must look like before an agent sees it."""

from __future__ import annotations

import re

from a2a.types.a2a_pb2 import Message, Role
from a2a.utils.errors import InvalidParamsError

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


def check_message(message: Message) -> None:
    """Refuse a message that no agent could answer.

    Raises:
        InvalidParamsError: Names what is wrong.
    """
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
