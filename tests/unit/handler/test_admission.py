"""A message that a task has received, but that no turn has worked on, is taken again."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message, Part, Role, SendMessageRequest

from tests.e2e.wire.agents import card
from tests.unit.engine.turns import Executor, House, status_of, task_of, turn
from utils.a2a_common.handler.admission import Admission, Admitted
from utils.a2a_common.handler.consent import Consent
from utils.a2a_common.handler.pending_input import NoPendingInput, PendingInputRouter
from utils.a2a_common.protocol.owner import owner_of

CALL = ServerCallContext()


async def ask(context, queue) -> None:
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "input_required", "Which one?"))


def reply() -> Message:
    parts = [Part(text="The second.")]
    return Message(message_id="reply", role=Role.ROLE_USER, task_id="a", context_id="c", parts=parts)


async def asked() -> House:
    """A process whose task waits for its user."""
    house = House(Executor(ask))
    await house.submit(replace(turn("a"), owner=owner_of(CALL)))
    async with asyncio.timeout(60):
        while house.engine.under_way("a"):
            await asyncio.sleep(0)
    return house


async def admitted(house: House) -> Admitted:
    admission = Admission(
        house.log,
        house.engine,
        PendingInputRouter(house.log, house.engine, NoPendingInput()),
        Consent(),
        card=card(),
    )
    async with admission.admit(SendMessageRequest(message=reply()), CALL) as found:
        return found


async def test_an_answer_whose_confirmation_was_lost_with_its_process_is_taken_when_it_comes_again() -> None:
    house = await asked()
    writer = await house.log.claim("a", owner_of(CALL))
    await writer.add_message(
        reply()
    )  # stored; the process is gone before its turn begins, and the turn is not kept
    writer.release()
    found = await admitted(house.next(Executor(ask)))
    assert (found.waits, found.repeated) == (True, False)


async def test_an_answer_that_led_to_the_next_question_is_not_taken_again() -> None:
    house = await asked()
    await house.submit(replace(turn("a", message_id="reply", text="The second."), owner=owner_of(CALL)))
    async with asyncio.timeout(60):
        while house.engine.under_way("a"):
            await asyncio.sleep(0)
    found = await admitted(house)
    assert (found.waits, found.repeated) == (False, True)
