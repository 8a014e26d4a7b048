"""What stands around each operation of our request handler."""

from __future__ import annotations

import inspect

import pytest
from a2a.server.request_handlers import RequestHandler
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import InvalidParamsError

from tests.contract.handler.kinds import called_by, opened
from tests.e2e.wire.agents import echo


@pytest.mark.parametrize("operation", sorted(RequestHandler.__abstractmethods__))
async def test_each_operation_refuses_a_tenant_with_a_control_character(operation: str) -> None:
    call = called_by("ann")
    call.tenant = "a\nb"
    async with opened("ours", echo) as desk:
        answer = getattr(desk.handler, operation)(pb.GetTaskRequest(id="task"), call)
        with pytest.raises(InvalidParamsError, match="tenant"):
            await (anext(answer) if inspect.isasyncgen(answer) else answer)
