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
    ("answer", "only_reads", "kind", "sentence"),
    [
        (ANSWER, False, AnswerUndelivered, "It is down."),
        (ANSWER, True, AnswerUndelivered, "It is down."),
        (
            replace(ANSWER, maybe_sent=True),
            False,
            DelegationUnclear,
            f"The answer of the asker agent was lost. {MAY_HAVE_DONE_IT}",
        ),
        (replace(ANSWER, maybe_sent=True), True, SubAgentDown, "It is down."),
    ],
    ids=[
        "sent by nobody",
        "sent by nobody to one that only reads",
        "perhaps sent by an earlier process",
        "perhaps sent by an earlier process to one that only reads",
    ],
)
def test_an_answer_that_was_not_delivered_is_asked_for_again_unless_an_earlier_process_may_have_sent_it(
    answer: RemoteCall, only_reads: bool, kind: type[DelegationFailed], sentence: str
) -> None:
    failure = not_delivered("asker", answer, SubAgentDown("It is down."), only_reads=only_reads)
    assert type(failure) is kind
    assert failure.message == sentence
    assert is_away(failure)  # for the circuit breaker of the agent
