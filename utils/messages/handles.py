"""Handles: short names of texts that were left out of a request and can be read back.

A handle is a hash of the text, so that storing a text twice gives the same handle without a look into
the store. The store's scope decides who may read it. Pure.
"""

from __future__ import annotations

import hashlib
import re

from langchain_core.messages import BaseMessage

_HANDLE = re.compile(r"\bart_[0-9a-f]{12}\b")


def handle_of(text: str) -> str:
    """The handle of a text: `art_` and 48 bits of its SHA-256."""
    return f"art_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def handles_in(text: str) -> list[str]:
    """The handles in a text, without duplicates, in order."""
    if "art_" not in text:
        return []
    return list(dict.fromkeys(_HANDLE.findall(text)))


FULL_OUTPUT = "full_output"
"""Key in `additional_kwargs` of a shortened message with the handle of its full text."""


def full_output_of(message: BaseMessage) -> str | None:
    """The handle of a shortened message's full text; `None` for other messages."""
    handle = message.additional_kwargs.get(FULL_OUTPUT)
    return handle if isinstance(handle, str) else None


def with_full_output(message: BaseMessage, content: str, handle: str | None) -> BaseMessage:
    """The message with shortened content, and the handle of its full text."""
    if handle is None:
        return message.model_copy(update={"content": content})
    extra = {**message.additional_kwargs, FULL_OUTPUT: handle}
    return message.model_copy(update={"content": content, "additional_kwargs": extra})
