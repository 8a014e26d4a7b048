"""Media types: those that an agent accepts in a message, those that a client accepts in an answer, and which parts match them. Pure.

Names may be patterns (`*/*`, `text/*`); parameters do not count; the bare `text` of protocol 0.3 means any text. A client
that names no `acceptedOutputModes` takes everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, SCOPE_EXTENSION
from utils.a2a_common.protocol.parts import media_type_of

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard, Message, Part, SendMessageRequest

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
JSON = "application/json"

INPUT_MODES = (PLAIN, MARKDOWN, JSON)
"""What an agent accepts unless it declares otherwise: text and text files, which its model reads, and JSON."""

_EXTENSIONS = (SCOPE_EXTENSION, CONTEXT_EXTENSION)
OUTPUT_MODES = (MARKDOWN, PLAIN)
"""Types of our agents' answers. Plans and forms are sent in addition where JSON is accepted."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The media types that a client accepts; all of them if it names none."""

    modes: Sequence[str] = ()

    def takes(self, mode: str) -> bool:
        """Whether a part of this media type may be sent."""
        return not self.modes or any(_matches(accepted, mode) for accepted in self.modes)

    @property
    def takes_text(self) -> bool:
        """Whether the text of an answer may be sent at all."""
        return self.takes(PLAIN) or self.takes(MARKDOWN)

    @property
    def text(self) -> str:
        """The media type under which an answer's text is sent: Markdown is also plain text."""
        return PLAIN if self.takes(PLAIN) and not self.takes(MARKDOWN) else MARKDOWN


ALL = Accepted()
"""Everything is accepted."""


def check_output_modes(params: SendMessageRequest, card: AgentCard) -> None:
    """Refuse a client that accepts nothing of what the agent's card offers.

    Raises:
        ContentTypeNotSupportedError: Names the offered types.
    """
    from a2a.utils.errors import ContentTypeNotSupportedError

    offered = [*card.default_output_modes, *(mode for skill in card.skills for mode in skill.output_modes)]
    accepted = Accepted(params.configuration.accepted_output_modes)
    if not offered or any(map(accepted.takes, offered)):
        return
    named = ", ".join(dict.fromkeys(offered))
    raise ContentTypeNotSupportedError(f"This agent answers in {named}: accept one of them.")


def accepted_of(modes: Iterable[str]) -> Accepted:
    """The media types in a message's configuration."""
    return Accepted(tuple(modes))


def input_modes_of(card: AgentCard) -> list[str]:
    """All that a card declares, for the agent or for one of its skills."""
    declared = [*card.default_input_modes, *(mode for skill in card.skills for mode in skill.input_modes)]
    return list(dict.fromkeys(declared))


def check_content(message: Message, modes: Sequence[str], *, reads_files: bool) -> None:
    """Refuse a message with a part that the agent does not accept: it would be silently ignored.

    Args:
        message: The message.
        modes: Media types and patterns that the agent takes; anything where there are none.
        reads_files: Whether the agent reads parts that are neither text nor JSON objects.

    Raises:
        ContentTypeNotSupportedError: Names the part, and the accepted types.
    """
    from a2a.utils.errors import ContentTypeNotSupportedError

    taken = ", ".join(modes)
    for index, part in enumerate(message.parts):
        if any(uri in part.data.struct_value.fields for uri in _EXTENSIONS):
            continue  # an extension's data is not content
        what, kind = _what(part), media_type_of(part)
        if what and not reads_files:
            way_out = "which this agent does not read. Send text, or a JSON object as data."
            raise ContentTypeNotSupportedError(f"message.parts[{index}] {what}, {way_out}")
        if not Accepted(modes).takes(kind):
            named = kind if part.media_type else f"{kind}, since it names no mediaType"
            raise ContentTypeNotSupportedError(
                f"message.parts[{index}] is of type {named}. This agent takes {taken}."
            )


def _matches(accepted: str, mode: str) -> bool:
    wanted = accepted.partition(";")[0].strip().lower()
    kind = mode.partition("/")[0]
    return wanted in {mode, f"{kind}/*", "*/*", "*", kind}


def _what(part: Part) -> str:
    """What a part is, where it is neither text nor a JSON object."""
    content = part.WhichOneof("content")
    if content in {"raw", "url"}:
        return f"is a file ({content})"
    if content == "data" and not part.data.HasField("struct_value"):
        return "is data that is no JSON object"
    return ""
