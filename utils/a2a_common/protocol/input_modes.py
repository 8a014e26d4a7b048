"""Checks the media types of a message against the input modes of an agent's card. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, SCOPE_EXTENSION
from utils.a2a_common.protocol.output_modes import JSON, MARKDOWN, PLAIN, Accepted
from utils.a2a_common.protocol.parts import media_type_of

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard, Message, Part

INPUT_MODES = (PLAIN, MARKDOWN, JSON)
"""What an agent takes that does not say otherwise: text and text files, which its model reads, and JSON."""


_EXTENSIONS = (SCOPE_EXTENSION, CONTEXT_EXTENSION)


def input_modes_of(card: AgentCard) -> list[str]:
    """All that a card declares, for the agent or for one of its skills."""
    declared = [*card.default_input_modes, *(mode for skill in card.skills for mode in skill.input_modes)]
    return list(dict.fromkeys(declared))


def check_content(message: Message, modes: Sequence[str], *, reads_files: bool) -> None:
    """Refuse a message with a part that the agent does not take: it would be left out in silence.

    Args:
        message: The message.
        modes: Media types and patterns that the agent takes; anything where there are none.
        reads_files: Whether the agent reads parts that are neither text nor JSON objects.

    Raises:
        ContentTypeNotSupportedError: Names the part, and what is taken.
    """
    from a2a.utils.errors import ContentTypeNotSupportedError

    taken = ", ".join(modes)
    for index, part in enumerate(message.parts):
        if any(uri in part.data.struct_value.fields for uri in _EXTENSIONS):
            continue  # what an extension says is no content
        what, kind = _what(part), media_type_of(part)
        if what and not reads_files:
            way_out = "which this agent does not read. Send text, or a JSON object as data."
            raise ContentTypeNotSupportedError(f"message.parts[{index}] {what}, {way_out}")
        if not Accepted(modes).takes(kind):
            named = kind if part.media_type else f"{kind}, since it names no mediaType"
            raise ContentTypeNotSupportedError(
                f"message.parts[{index}] is of type {named}. This agent takes {taken}."
            )


def _what(part: Part) -> str:
    """What a part is, where it is neither text nor a JSON object."""
    content = part.WhichOneof("content")
    if content in {"raw", "url"}:
        return f"is a file ({content})"
    if content == "data" and not part.data.HasField("struct_value"):
        return "is data that is no JSON object"
    return ""
