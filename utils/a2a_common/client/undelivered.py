"""Which failures say that an agent was never given what it was to be told, so that it may be told later. Pure."""

from __future__ import annotations

from utils.a2a_common.client.peer_errors import PeerError, never_taken
from utils.errors import DelegationFailed, SubAgentUnavailable


def is_undelivered(failure: DelegationFailed, cause: BaseException | None) -> bool:
    """Whether a delegation failed since its agent is away, and nothing of the message can have reached it.

    Args:
        failure: How it failed.
        cause: What that came of; no `PeerError` where it failed before the agent was asked at all.
    """
    return isinstance(failure, SubAgentUnavailable) and (
        not isinstance(cause, PeerError) or never_taken(cause)
    )
