"""Which failures say that an agent was never given an answer, so that the user may be asked for it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from utils.a2a_common.client.bulkhead import SubAgentDown
from utils.a2a_common.client.message import RemoteCall
from utils.a2a_common.client.peer_errors import ConnectionLost
from utils.a2a_common.client.undelivered import is_undelivered
from utils.errors import DelegationFailed, SubAgentUnavailable

ANSWER = RemoteCall("call", "yes", "m", "c", None, 10.0, task_id="t")
AWAY = SubAgentUnavailable("away")
NOT_SENT, SENT = ConnectionLost("refused", sent=False), ConnectionLost("lost")


@pytest.mark.parametrize(
    ("call", "failure", "cause", "undelivered"),
    [
        (ANSWER, AWAY, NOT_SENT, True),
        (ANSWER, SubAgentDown("down"), None, True),
        (ANSWER, AWAY, SENT, False),
        (ANSWER, DelegationFailed("failed"), NOT_SENT, False),
        (replace(ANSWER, task_id=""), AWAY, NOT_SENT, False),
        (replace(ANSWER, maybe_sent=True), AWAY, NOT_SENT, False),
    ],
    ids=[
        "refused",
        "not asked",
        "may have arrived",
        "another failure",
        "a request",
        "sent by an earlier process",
    ],
)
def test_an_answer_is_asked_for_again_only_if_its_agent_cannot_have_it(
    call: RemoteCall, failure: DelegationFailed, cause: BaseException | None, undelivered: bool
) -> None:
    assert is_undelivered(call, failure, cause) is undelivered
