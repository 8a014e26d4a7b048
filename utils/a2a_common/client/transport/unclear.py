"""The failure of a delegation whose outcome is unknown, and the failures that mean that the agent is away."""

from __future__ import annotations

from utils.a2a_common.client.transport.delegation_failures import AnswerUndelivered
from utils.errors import DelegationFailed, OutcomeUnknown, SubAgentUnavailable


class DelegationUnclear(DelegationFailed):
    """A sub-agent's answer was lost, and it is unknown whether it did its work: for programs and models the same as `OutcomeUnknown`.

    Attributes:
        away: Whether the sub-agent can no longer be reached; otherwise its answer could not be used.
    """

    code = OutcomeUnknown.code
    advice = OutcomeUnknown.advice

    def __init__(self, message: str, *, away: bool) -> None:
        super().__init__(message)
        self.away = away


def is_away(failure: DelegationFailed) -> bool:
    """Whether a failure means that the agent cannot be reached, or no longer."""
    if isinstance(failure, DelegationUnclear | AnswerUndelivered):
        return failure.away
    return isinstance(failure, SubAgentUnavailable)
