"""Names of speakers, in a form that every provider takes. Pure."""

from __future__ import annotations

import re

from langchain_core.messages import BaseMessage

_ILLEGAL = re.compile(r"[\s<|\\/>]+")  # OpenAI: '^[^\s<|\\/>]+$'

_LONGEST = 64


def legal_speaker(name: str) -> str | None:
    """The name, or one derived from it that all providers accept; `None` where nothing of it is left."""
    return _ILLEGAL.sub("_", name).strip("_")[:_LONGEST] or None if _ILLEGAL.search(name) else name[:_LONGEST]


def with_legal_name(message: BaseMessage) -> BaseMessage:
    """The message with a legal name; the same object if it has one, or none."""
    said = message.additional_kwargs.get("name")
    if not message.name and not isinstance(said, str):
        return message
    name = legal_speaker(message.name) if message.name else None
    extra = {key: value for key, value in message.additional_kwargs.items() if key != "name"}
    if name == message.name and not isinstance(said, str):
        return message
    return message.model_copy(update={"name": name, "additional_kwargs": extra})
