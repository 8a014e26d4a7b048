"""The failure of a delegation of which nobody knows the outcome, and which failures say that the agent is away."""

from __future__ import annotations

from utils.a2a_common.client.transport.delegation_failures import AnswerUndelivered
from utils.errors import DelegationFailed, OutcomeUnknown, SubAgentUnavailable


class DelegationUnclear(DelegationFailed):
    """A sub-agent's answer was lost, and nobody knows whether it did its work: to a program and to a model what `OutcomeUnknown` is.

    Attributes:
        away: Whether the sub-agent cannot be reached any more, rather than that its answer could not be used.
    """

    code = OutcomeUnknown.code
    advice = OutcomeUnknown.advice

    def __init__(self, message: str, *, away: bool) -> None:
        super().__init__(message)
        self.away = away


def is_away(failure: DelegationFailed) -> bool:
    """Whether a failure says that the agent cannot be reached, now or any more."""
    if isinstance(failure, DelegationUnclear | AnswerUndelivered):
        return failure.away
    return isinstance(failure, SubAgentUnavailable)
