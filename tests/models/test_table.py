"""Every row of the table, through the product's agent, the provider's real client and HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from a2a.client import Client

from tests.e2e.agents.peers import Answer, ask, connected
from tests.models.row import LAST, Row, Sent
from tests.models.scribe import WRITTEN, Scribe
from tests.models.table import ROWS
from tests.rows import mostly_long
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.strict.servers import Server
from utils.testing.strict_provider import (
    ChatRequest,
    Fault,
    FaultKind,
    Reply,
    StrictProvider,
    Wire,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

Agents = Callable[[Row], Awaitable[Client]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agents(double: StrictProvider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Agents]:
    """One agent for each provider and settings, started when the first row needs it."""
    started: dict[tuple[str, ...], Client] = {}
    async with AsyncExitStack() as stack:

        async def agent_for(row: Row) -> Client:
            key = (row.server.provider, *row.settings)
            if key not in started:
                home: Path = tmp_path_factory.mktemp("scribe")
                environ = {
                    **double.environment(row.server.provider),
                    "SHOW_REASONING": "true",
                    **row.settings,
                }
                running = running_agent(Scribe, environ=environ, home=home)
                url = await stack.enter_async_context(running)
                started[key] = await stack.enter_async_context(connected(url))
            return started[key]

        yield agent_for


def _script(row: Row) -> Callable[[ChatRequest], Reply | Fault | Wire]:
    left = list(row.replies)

    def answer(_request: ChatRequest) -> Reply | Fault | Wire:
        return _reply(left.pop(0)) if left else Reply(LAST)

    return answer


def _reply(sent: Sent) -> Reply | Fault | Wire:
    if isinstance(sent, FaultKind):
        return Fault(sent)
    return Reply(sent) if isinstance(sent, str) else sent


def _activities(answer: Answer, kind: str, field: str) -> list[str]:
    return [str(each[field]) for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == kind]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", mostly_long(ROWS, 3), ids=str)
async def test_what_the_user_sees(row: Row, double: StrictProvider, agents: Agents) -> None:
    client = await agents(row)
    double.reset(_script(row))
    WRITTEN.clear()
    answer = await ask(client, "write x y")
    error = next(iter(answer.metadata(ERROR_EXTENSION)), {"code": "", "message": ""})
    assert (answer.state, error["code"]) == (row.state, row.code), (answer.text, error)
    assert row.sentence in error["message"]
    assert row.text is None or answer.text == row.text
    assert row.replaced or "".join(text for _, _, text in answer.chunks) == answer.text, (
        "shown and taken back"
    )
    assert sorted(WRITTEN) == sorted(row.wrote)
    if row.retried or row.state == "failed":
        assert _activities(answer, "model_retried", "reason") == list(row.retried)
    if row.reasoned is not None:
        assert "".join(_activities(answer, "model_reasoned", "text")).strip() == row.reasoned
    assert row.requests in (None, double.received)
    assert double.rejections == []
    assert double.errors == []


def test_every_row_has_a_name_of_its_own_and_every_server_has_one() -> None:
    names = [str(row) for row in ROWS]
    assert len(names) == len(set(names))
    assert {row.server for row in ROWS} == set(Server)
