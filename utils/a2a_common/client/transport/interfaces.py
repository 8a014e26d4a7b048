"""Matches a card with this client: addresses, bindings, required extensions, and media types of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from utils.a2a_common.client.transport.errors import PeerError
from utils.a2a_common.client.transport.peer_text import one_line
from utils.a2a_common.protocol.conversations import CONVERSATIONS_EXTENSION
from utils.a2a_common.protocol.declared import required_extensions
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    AGENTS_EXTENSION,
    ARTIFACT_EXTENSION,
    BUDGET_EXTENSION,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    PLAN_EXTENSION,
    QUESTION_EXTENSION,
    READ_ONLY_EXTENSION,
    SCOPE_EXTENSION,
    TRACE_EXTENSION,
    TREE_EXTENSION,
    USAGE_EXTENSION,
)
from utils.a2a_common.protocol.media_modes import JSON, MARKDOWN, PLAIN
from utils.a2a_common.protocol.memories import MEMORY_EXTENSION
from utils.a2a_common.protocol.rules import RULES_EXTENSION

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard, AgentInterface

BINDINGS = ("JSONRPC", "HTTP+JSON")
"""Supported bindings, in order of preference."""

SPOKEN = frozenset(
    {
        ACTIVITY_EXTENSION,
        AGENTS_EXTENSION,
        ARTIFACT_EXTENSION,
        BUDGET_EXTENSION,
        CONTEXT_EXTENSION,
        CONVERSATIONS_EXTENSION,
        ERROR_EXTENSION,
        MEMORY_EXTENSION,
        NEXT_EXTENSION,
        PLAN_EXTENSION,
        QUESTION_EXTENSION,
        READ_ONLY_EXTENSION,
        RULES_EXTENSION,
        SCOPE_EXTENSION,
        TRACE_EXTENSION,
        TREE_EXTENSION,
        USAGE_EXTENSION,
    }
)
"""The extensions that this client knows: all of this project."""

_OURS = "agents are called over JSON-RPC or HTTP+JSON"
OTHER_VERSION = "It names no version of A2A that is spoken here."
_MOST_NAMED = 50
_MOST_URIS = 3
_LONGEST_URI = 100
_LONGEST_MODE = 100


class CardUnusable(PeerError):
    """An agent cannot be called with its present card."""

    code = "card_unusable"


class NoInterface(CardUnusable):
    """The card names no address and binding that can be used.

    Attributes:
        offered: The bindings that it names.
    """

    code = "no_interface"

    def __init__(self, offered: Sequence[str]) -> None:
        super().__init__("The agent's card names no address that can be used.")
        self.offered = offered


class ExtensionRequired(CardUnusable):
    """The card requires an extension of A2A that is not spoken here."""

    code = "extension_required"


def web_interfaces(card: AgentCard) -> Sequence[AgentInterface]:
    """Those of a card's interfaces that an HTTP client can call."""
    return [each for each in card.supported_interfaces if _is_web(each.url)]


def unusable(card: AgentCard) -> str:
    """Why an agent cannot be called with its present card, in a sentence; empty if it can."""
    return _no_address(card) or _foreign_extension(card)


def check_required(card: AgentCard) -> None:
    """Refuse a card that requires what is not spoken here: A2A forbids a client to send messages to such an agent.

    Raises:
        ExtensionRequired: Names the extensions.
    """
    if why := _foreign_extension(card):
        raise ExtensionRequired(why)


def _foreign_extension(card: AgentCard) -> str:
    foreign = sorted(required_extensions(card) - SPOKEN)
    if not foreign:
        return ""
    named = ", ".join(f'"{one_line(uri, _LONGEST_URI)}"' for uri in foreign[:_MOST_URIS])
    return f"Its card requires an extension of A2A that is not spoken here: {named}."


def _no_address(card: AgentCard) -> str:
    offered = sorted({each.protocol_binding for each in card.supported_interfaces})
    if any(each.protocol_binding in BINDINGS for each in web_interfaces(card)):
        return ""
    if offered == ["GRPC"]:
        return f"It offers GRPC alone; {_OURS}."
    return f"It names no address of http or https for one of these; {_OURS}."


def with_web_addresses(card: AgentCard) -> AgentCard:
    """The card with those alone."""
    from a2a.types.a2a_pb2 import AgentCard

    left = AgentCard()
    left.CopyFrom(card)
    left.ClearField("supported_interfaces")
    left.supported_interfaces.extend(web_interfaces(card))
    return left


def accepted_modes(card: AgentCard) -> list[str]:
    """The media types accepted from an agent: text and data are read, and a file of any type is passed on.

    All that the card offers is named besides `*/*`, since not every agent knows patterns.
    """
    offered = [*card.default_output_modes, *(mode for skill in card.skills for mode in skill.output_modes)]
    named = [mode for mode in offered[:_MOST_NAMED] if len(mode) <= _LONGEST_MODE]
    return list(dict.fromkeys([MARKDOWN, PLAIN, JSON, *named, "*/*"]))


def _is_web(url: str) -> bool:
    import httpx

    try:
        httpx.URL(url)
        parts = urlsplit(url)
    except (httpx.InvalidURL, ValueError):
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
