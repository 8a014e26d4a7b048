"""How a stream ends before the turn that it tells of."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest
from a2a.server.context import ServerCallContext
from a2a.types import a2a_pb2 as pb

from tests.contract.handler.kinds import read
from tests.unit.engine.test_cancel import endless
from tests.unit.engine.turns import CALL, Executor, House, turn
from tests.unit.handler.test_webhooks import webhooks
from utils.a2a_common.handler.handler_parts import HandlerParts
from utils.a2a_common.handler.pending_input import NoPendingInput
from utils.a2a_common.handler.request_handler import PlatformRequestHandler
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.retry_later import DrainingError
from utils.a2a_common.server.push.store import PushConfigs


async def test_a_stream_that_cannot_go_on_says_when_to_come_again() -> None:
    house = House(Executor(endless))
    card = pb.AgentCard(capabilities=pb.AgentCapabilities(streaming=True))
    needs = HandlerParts(
        log=house.log,
        engine=house.engine,
        webhooks=webhooks(PushConfigs()),
        card=card,
        pending_input=NoPendingInput(),
    )
    handler = PlatformRequestHandler(needs)
    call = ServerCallContext(user=CALL.user)
    await house.submit(replace(turn("a"), owner=owner_of(call)))
    async with aclosing(house.log.read("a", owner_of(call))) as entries:
        await anext(entries)
    events = handler.on_subscribe_to_task(pb.SubscribeToTaskRequest(id="a"), call)
    reading = asyncio.create_task(read(events))
    async with asyncio.timeout(60):
        while not house.log.readers("a", owner_of(call)):
            await asyncio.sleep(0)
    writer = house.engine._jobs["a"].writer
    assert writer is not None
    writer.release()  # as when the run is torn down with the process
    with pytest.raises(DrainingError):
        await reading
    await house.engine.drain(0)
