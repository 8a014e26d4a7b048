"""Failures of delegations of which it is certain that nothing was done, each with the advice what to do next."""

from __future__ import annotations

from utils.errors import DelegationFailed, SubAgentUnavailable


class SubAgentNotAuthorised(DelegationFailed):
    """A sub-agent was not asked: the identity provider gave no token for it in the user's name, or the token has expired."""

    code = "sub_agent_not_authorised"


class AnswerUndelivered(SubAgentUnavailable):
    """A sub-agent was certainly not given the user's answer: its task still waits, and the user may be asked again.

    Attributes:
        away: Whether it cannot be reached, rather than that it takes nothing now.
    """

    def __init__(self, message: str, *, away: bool = True) -> None:
        super().__init__(message)
        self.away = away


class QuestionGone(DelegationFailed):
    """A sub-agent no longer has the task that waited for the user's answer: it was deleted there. Nothing was done with the answer."""

    code = "question_gone"
    advice = "Tell the user that the answer came too late for this agent, and to send the request again if it still matters."
