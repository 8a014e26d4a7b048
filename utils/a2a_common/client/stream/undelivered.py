"""The error of a message that its agent did not get, or of which it is unknown whether it got it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.a2a_common.client.transport.delegation_failures import AnswerUndelivered
from utils.a2a_common.client.transport.errors import (
    ConnectionLost,
    OutcomeUnclear,
    PeerError,
    RequestRefused,
    failure_of,
    never_taken,
)
from utils.a2a_common.client.transport.unclear import is_away

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message

    from utils.a2a_common.client.stream.message import RemoteCall
    from utils.errors import DelegationFailed


def not_delivered(
    agent: str, answer: RemoteCall, failure: DelegationFailed, *, only_reads: bool
) -> DelegationFailed:
    """The failure of an answer that did not reach its agent, or that it did not take.

    Where an earlier process may have sent it, the outcome is unknown, unless the agent changes nothing.

    Args:
        agent: Our name for the agent.
        answer: The message to send.
        failure: Why it was not.
        only_reads: Whether the agent changes nothing.
    """
    if answer.maybe_sent and only_reads:
        return failure
    if answer.maybe_sent:
        return failure_of(agent, OutcomeUnclear(None))
    return AnswerUndelivered(failure.message, away=is_away(failure))


def perhaps_taken(error: PeerError, message: Message) -> PeerError:
    """The error for a message that an agent may have taken, as an agent that recognises a repeated message and stays away.

    An answer may be the yes to a change, which the agent made or makes after its restart: its outcome is unknown. A request
    changes nothing before that yes, and may be made again; that a look for it did not arrive proves nothing.
    """
    if message.task_id:
        return OutcomeUnclear(error)
    return _lost(error)


def without_effect(error: PeerError) -> PeerError:
    """The error of an agent that changes nothing: in place of an unknown outcome, how its answer was lost."""
    return _lost(error.lost) if isinstance(error, OutcomeUnclear) else error


def _lost(error: PeerError | None) -> PeerError:
    """How an answer was lost, but for what tells of a later try alone."""
    if error is None or never_taken(error):
        return ConnectionLost("The agent does not tell what came of it.")
    return error


def is_forgotten(error: PeerError, message: Message) -> bool:
    """Whether an agent has lost the task that a message answers, so that it can no longer report what it did with the message."""
    return bool(message.task_id) and isinstance(error, RequestRefused) and error.unknown_task
