"""The user is asked again for an answer only if its agent was certainly never given it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from utils.a2a_common.client.agents.bulkhead import SubAgentDown
from utils.a2a_common.client.stream.message import RemoteCall
from utils.a2a_common.client.stream.undelivered import not_delivered
from utils.a2a_common.client.transport.delegation_failures import AnswerUndelivered
from utils.a2a_common.client.transport.sentences import MAY_HAVE_DONE_IT
from utils.a2a_common.client.transport.unclear import DelegationUnclear, is_away
from utils.errors import DelegationFailed

ANSWER = RemoteCall("call", "yes", "m", "c", None, 10.0, task_id="t")


@pytest.mark.parametrize(
    ("answer", "kind", "sentence"),
    [
        (ANSWER, AnswerUndelivered, "It is down."),
        (
            replace(ANSWER, maybe_sent=True),
            DelegationUnclear,
            f"The answer of the asker agent was lost. {MAY_HAVE_DONE_IT}",
        ),
    ],
    ids=["sent by nobody", "perhaps sent by an earlier process"],
)
def test_an_answer_that_was_not_delivered_is_asked_for_again_unless_an_earlier_process_may_have_sent_it(
    answer: RemoteCall, kind: type[DelegationFailed], sentence: str
) -> None:
    failure = not_delivered("asker", answer, SubAgentDown("It is down."))
    assert type(failure) is kind
    assert failure.message == sentence
    assert is_away(failure)  # for the circuit breaker of the agent
