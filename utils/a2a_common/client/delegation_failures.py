"""How a delegation fails although its agent can be reached and works."""

from __future__ import annotations

from utils.errors import DelegationFailed


class SubAgentNotAuthorised(DelegationFailed):
    """A sub-agent was not asked: the identity provider gave no token for it in the user's name, or the token has expired."""

    code = "sub_agent_not_authorised"


class QuestionGone(DelegationFailed):
    """A sub-agent has no longer the task that waited for the user's answer: it was deleted there. Nothing was done with the answer."""

    code = "question_gone"
    advice = "Tell the user that the answer came too late for this agent, and to send the request again if it still matters."
