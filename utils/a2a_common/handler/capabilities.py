"""Refuses the operations that an agent's card does not announce. Each takes the card and the call."""

from __future__ import annotations

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.errors import (
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
)

from utils.a2a_common.protocol.credentials_required import CredentialsRequired


def streaming(card: AgentCard, _call: ServerCallContext) -> None:
    """Refuse a stream if the agent offers none.

    Raises:
        UnsupportedOperationError: The card announces none.
    """
    if not card.capabilities.streaming:
        raise UnsupportedOperationError("Streaming is not supported by the agent")


def push(card: AgentCard, _call: ServerCallContext) -> None:
    """Refuse a push notification configuration if the agent offers none.

    Raises:
        PushNotificationNotSupportedError: The card announces none.
    """
    if not card.capabilities.push_notifications:
        raise PushNotificationNotSupportedError("Push notifications are not supported by the agent")


def extended_card(card: AgentCard, call: ServerCallContext) -> None:
    """Refuse the extended card if there is none, and to callers without valid credentials.

    Raises:
        UnsupportedOperationError: The card announces none.
        CredentialsRequired: The caller is not authenticated.
    """
    if not card.capabilities.extended_agent_card:
        raise UnsupportedOperationError("The agent does not support authenticated extended cards")
    if not call.user.is_authenticated:
        raise CredentialsRequired("The extended card is for authenticated callers. Send credentials.")
