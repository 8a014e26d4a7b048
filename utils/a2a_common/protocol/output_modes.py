"""Output modes that a client accepts, and which of an agent's parts match them. Pure.

`acceptedOutputModes` of a message's configuration. A client that names none takes everything. Names may
be patterns (`*/*`, `text/*`); parameters do not count; the bare `text` of protocol 0.3 means any text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard, SendMessageRequest

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
JSON = "application/json"

OUTPUT_MODES = (MARKDOWN, PLAIN)
"""What an answer of our agents may be. Plans and forms come beside it, where JSON is accepted."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a client accepts; everything where it names nothing."""

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
        ContentTypeNotSupportedError: Names what is offered.
    """
    from a2a.utils.errors import ContentTypeNotSupportedError

    offered = [*card.default_output_modes, *(mode for skill in card.skills for mode in skill.output_modes)]
    accepted = Accepted(params.configuration.accepted_output_modes)
    if not offered or any(map(accepted.takes, offered)):
        return
    named = ", ".join(dict.fromkeys(offered))
    raise ContentTypeNotSupportedError(f"This agent answers in {named}: accept one of them.")


def accepted_of(modes: Iterable[str]) -> Accepted:
    """What a message's configuration says."""
    return Accepted(tuple(modes))


def _matches(accepted: str, mode: str) -> bool:
    wanted = accepted.partition(";")[0].strip().lower()
    kind = mode.partition("/")[0]
    return wanted in {mode, f"{kind}/*", "*/*", "*", kind}
