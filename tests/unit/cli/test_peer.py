"""What goes wrong with an agent is a sentence and an exit code, whatever it is."""

from __future__ import annotations

import httpx
import pytest
from a2a.client.errors import A2AClientError
from a2a.utils.errors import InternalError, TaskNotFoundError

from multi_agents.cli.errors import AgentRefused, AnswerLost, CliError, ConnectionLost
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import connect, plain_errors
from tests.e2e.delegation.hostile import hostile
from tests.e2e.delegation.test_too_much import a_dense_event, one_giant_event
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.transport.errors import NoProgress, OutcomeUnclear, typed
from utils.a2a_common.client.transport.sentences import MAY_HAVE_DONE_IT
from utils.errors import ProtocolViolation


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (typed(httpx.ReadError("x")), ConnectionLost, "The connection to http://a was lost."),
        (typed(TaskNotFoundError("Task not found")), AgentRefused, "refused the request: Task not found"),
        (typed(A2AClientError("HTTP 502")), AgentRefused, "an answer that cannot be used: HTTP 502"),
        (OutcomeUnclear(typed(httpx.ReadError("x"))), AnswerLost, f"was lost. {MAY_HAVE_DONE_IT}"),
        (OutcomeUnclear(typed(InternalError("x"))), AnswerLost, f"an internal error. {MAY_HAVE_DONE_IT}"),
        (NoProgress("The agent stopped reporting."), AgentRefused, "The agent stopped reporting."),
        (ProtocolViolation("The answer holds a number."), AgentRefused, "The answer holds a number."),
    ],
)
def test_an_error_of_the_client_is_one_of_the_command_line(
    error: Exception, kind: type[CliError], sentence: str
) -> None:
    with pytest.raises(kind) as caught, plain_errors("http://a"):
        raise error
    assert sentence in caught.value.message
    assert caught.value.exit_code in (ExitCode.UNREACHABLE, ExitCode.TASK_FAILED)


@pytest.mark.listens
@pytest.mark.parametrize(
    ("body", "limit"), [(one_giant_event, "more than 4 MiB"), (a_dense_event, "more than 100,000 values")]
)
async def test_an_agent_that_sends_too_much_is_stopped(body, limit: str) -> None:
    async with hostile(body) as agent, connect(agent.url) as peer:
        with pytest.raises(AgentRefused, match=limit), plain_errors(peer.url):
            async for _ in follow_message(peer.connection, user_message("go", context_id="c")):
                pass
