"""Handles: short names under which text that was left out of a request can be read back.

A handle follows from the text, so that offloading the same text twice gives the same handle and
needs no store to be asked first. Who may read it is the store's business (its scope). Pure.
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
    """Handles named in a text, each once, in order."""
    if "art_" not in text:
        return []
    return list(dict.fromkeys(_HANDLE.findall(text)))


FULL_OUTPUT = "full_output"
"""Where a message that is shown in part says, in `additional_kwargs`, under which handle the whole is."""


def full_output_of(message: BaseMessage) -> str | None:
    """The handle of the whole text of a message that is shown in part."""
    handle = message.additional_kwargs.get(FULL_OUTPUT)
    return handle if isinstance(handle, str) else None


def with_full_output(message: BaseMessage, content: str, handle: str | None) -> BaseMessage:
    """The message with another content that stands for the text behind `handle`."""
    if handle is None:
        return message.model_copy(update={"content": content})
    extra = {**message.additional_kwargs, FULL_OUTPUT: handle}
    return message.model_copy(update={"content": content, "additional_kwargs": extra})
