"""Which failures say that an agent was never given the user's answer, so that it may be asked for again. Pure."""

from __future__ import annotations

from utils.a2a_common.client.message import RemoteCall
from utils.a2a_common.client.peer_errors import PeerError, never_taken
from utils.errors import DelegationFailed, SubAgentUnavailable


def is_undelivered(call: RemoteCall, failure: DelegationFailed, cause: BaseException | None) -> bool:
    """Whether an answer failed since its agent is away, and nothing of it can have reached the agent, from here or an earlier process.

    Args:
        call: The message.
        failure: How it failed.
        cause: What that came of; no `PeerError` where it failed before the agent was asked at all.
    """
    if not call.task_id or call.maybe_sent or not isinstance(failure, SubAgentUnavailable):
        return False
    return not isinstance(cause, PeerError) or never_taken(cause)
