"""Faults of this program in a call to another agent are not told as faults of that agent."""

from __future__ import annotations

import pytest
from a2a.types.a2a_pb2 import AgentCard, AgentInterface, Message

from utils.a2a_common.client.transport.connection import Connection, http_client
from utils.a2a_common.client.transport.credentials import Credentials
from utils.a2a_common.client.transport.errors import ConnectionLost, OutcomeUnclear, OwnFault, failure_of
from utils.a2a_common.client.transport.unclear import DelegationUnclear, is_away
from utils.errors import OutcomeUnknown, SubAgentUnavailable

NOBODY = "http://127.0.0.1:9"


def connection(http: object, version: str = "1.0") -> Connection:
    card = AgentCard(name="x", version="1")
    card.supported_interfaces.append(
        AgentInterface(url=NOBODY, protocol_binding="JSONRPC", protocol_version=version)
    )
    return Connection.open("x", card, http)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_a_call_over_a_connection_that_was_closed_here_is_a_fault_of_ours(version: str) -> None:
    http = http_client(NOBODY)
    closed = connection(http, version)
    await http.aclose()
    with pytest.raises(OwnFault):
        await closed.get_task("t")
    with pytest.raises(OwnFault):
        await closed.list_tasks("c")
    with pytest.raises(OwnFault):
        await closed.cancel("t")
    with pytest.raises(OwnFault):
        await anext(closed.send(Message()))
    with pytest.raises(OwnFault):
        await anext(closed.subscribe("t"))


async def test_credentials_that_cannot_be_made_are_a_fault_of_ours() -> None:
    def token() -> str:
        raise TypeError("A signer was given no key.")

    async with http_client(NOBODY, credentials=Credentials(NOBODY, token)) as http:
        with pytest.raises(OwnFault) as caught:
            await connection(http).get_task("t")
    assert isinstance(caught.value.__cause__, TypeError)


async def test_a_request_that_cannot_be_made_is_a_fault_of_ours() -> None:
    async with http_client(NOBODY) as http:
        with pytest.raises(TypeError):
            await connection(http).get_task(5)  # type: ignore[arg-type]


def test_a_failure_of_which_nobody_knows_the_outcome_has_one_type_and_its_code() -> None:
    failure = failure_of("x", OutcomeUnclear(ConnectionLost("Gone.")))
    assert isinstance(failure, DelegationUnclear)
    assert not isinstance(failure, SubAgentUnavailable)
    assert (failure.code, failure.retryable) == (OutcomeUnknown.code, False)
    assert failure.advice == OutcomeUnknown.advice
    assert str(failure) == failure.message
    assert is_away(failure)
