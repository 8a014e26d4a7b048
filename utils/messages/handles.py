"""Handles: short names of texts that were left out of a request and can be read back.

A handle is a hash of the text, so that storing a text twice gives the same handle without a look into
the store. The store's scope decides who may read it. Pure.
"""

from __future__ import annotations

import hashlib
import re

from langchain_core.messages import BaseMessage

from utils.messages.marks import FULL_OUTPUT

_HANDLE = re.compile(r"\bart_[0-9a-f]{12}\b")


def handle_of(text: str) -> str:
    """The handle of a text: `art_` and 48 bits of its SHA-256."""
    return f"art_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def handles_in(text: str) -> list[str]:
    """The handles in a text, without duplicates, in order."""
    if "art_" not in text:
        return []
    return list(dict.fromkeys(_HANDLE.findall(text)))


def full_output_of(message: BaseMessage) -> str | None:
    """The handle of a shortened message's full text; `None` for other messages."""
    return FULL_OUTPUT.of(message)


def with_full_output(message: BaseMessage, content: str, handle: str | None) -> BaseMessage:
    """The message with shortened content, and the handle of its full text."""
    shortened = message.model_copy(update={"content": content})
    return shortened if handle is None else FULL_OUTPUT.on(shortened, handle)
