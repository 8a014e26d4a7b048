"""What an error of a call to another agent means for the one that delegates. Pure.

Only what says that the agent could not be reached counts for its circuit breaker, which saves callers from
waiting in vain. An agent that refuses a request, or fails over it, has answered: a breaker would let one
request that it cannot handle take the agent away from everybody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a.client.errors import A2AClientError
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from utils.a2a_common.client.peer_text import with_words
from utils.errors import (
    SUB_AGENT_CRASHED,
    SUB_AGENT_REFUSED,
    SUB_AGENT_UNREACHABLE,
    DelegationFailed,
    SubAgentRefused,
    SubAgentUnavailable,
)

if TYPE_CHECKING:
    import httpx


def failure_of(agent: str, error: httpx.HTTPError | A2AError | OSError) -> DelegationFailed:
    """The error that the delegation ends with. The words of an internal error are left out: they may be anything."""
    match error:
        case InternalError() | InvalidAgentResponseError():
            return DelegationFailed(SUB_AGENT_CRASHED.format(agent=agent))
        case A2AError() if not isinstance(error, A2AClientError):
            return SubAgentRefused(with_words(SUB_AGENT_REFUSED.format(agent=agent), error.message))
    return SubAgentUnavailable(SUB_AGENT_UNREACHABLE.format(agent=agent))
