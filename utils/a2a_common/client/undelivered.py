"""Which failures say that an agent was never given the user's answer, so that it may be asked for again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.a2a_common.client.message import RemoteCall
from utils.a2a_common.client.peer_errors import ConnectionLost, PeerError, RequestRefused, never_taken
from utils.errors import DelegationFailed, SubAgentUnavailable

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message


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


def of_a_look(error: PeerError) -> PeerError:
    """The error of a look for what came of a message: that the look did not arrive says nothing about the message, which may have."""
    return ConnectionLost("The agent does not tell what came of it.") if never_taken(error) else error


def is_forgotten(error: PeerError, message: Message) -> bool:
    """Whether an agent has lost the task that a message answers: what it did with one that it may have got, it cannot tell any more."""
    return bool(message.task_id) and isinstance(error, RequestRefused) and error.unknown_task
