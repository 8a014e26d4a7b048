"""A message is judged while the task that waits is answered by another one, on the same replica or on another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message, Part, Role, TaskState

from tests.postgres import PostgresServer
from tests.unit.engine.replicas import replica_at
from tests.unit.engine.turns import CALL, Executor, House, status_of, task_of, turn
from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.handler.pending_input import PendingInputRouter
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.runs import conversation_key

OWNER = owner_of(CALL)
ENGINES = [
    pytest.param("local"),
    pytest.param(
        "replicas",
        marks=[pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")],
    ),
]


@dataclass
class Judge:
    """Decides when it is let; what it says depends on the question."""

    verdict: Callable[[str], bool]
    asked: list[str] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        del text, data
        self.asked.append(question)
        self.entered.set()
        await self.let.wait()
        return self.verdict(question)


@dataclass
class Desk:
    """Where a message is judged, and where another one is taken meanwhile."""

    judging: tuple[TaskLog, TurnEngine]
    taking: TurnEngine
    executors: Sequence[Executor]
    book: asyncio.Event

    async def begin(self, text: str = "Find a hotel") -> None:
        """Give the task a message of its user."""
        made = turn("a", message_id=text, text=text, conversation=conversation_key(OWNER, "c"))
        await self.taking.submit(replace(made, owner=OWNER), CALL)

    async def question(self, words: str) -> None:
        """Wait until the task waits with a question."""
        log, engine = self.judging
        async with asyncio.timeout(60):
            while True:
                head = await log.head("a", OWNER)
                if head is not None and [each.text for each in head.status.message.parts] == [words]:
                    break
                await asyncio.sleep(0.01)
            while await engine.has_turn("a", OWNER):
                await asyncio.sleep(0.01)

    async def booking(self) -> None:
        """Wait until the answer is worked on."""
        async with asyncio.timeout(60):
            while sum(len(each.began) for each in self.executors) < 2:
                await asyncio.sleep(0.01)

    async def end(self) -> str:
        """How the task ends."""
        log, engine = self.judging
        async with asyncio.timeout(60):
            while await engine.has_turn("a", OWNER):
                await asyncio.sleep(0.01)
        head = await log.head("a", OWNER)
        assert head is not None
        return TaskState.Name(head.status.state).removeprefix("TASK_STATE_").lower()

    def judged(self, judge: Judge) -> asyncio.Task[str]:
        """Another message of the conversation, which names no task."""
        parts = [Part(text="And the issues?")]
        message = Message(message_id="other", role=Role.ROLE_USER, context_id="c", parts=parts)
        return asyncio.create_task(
            PendingInputRouter(*self.judging, judge).route(message, ServerCallContext())
        )


def hotel(book: asyncio.Event) -> Executor:
    """Asks for a city, then for dates unless the city is Rome, and books when it is let."""

    async def work(context, queue) -> None:
        said = context.message.parts[0].text
        if context.current_task is None:
            await queue.enqueue_event(task_of(context))
            await queue.enqueue_event(status_of(context, "input_required", "Which city?"))
        elif said == "Oslo":
            await queue.enqueue_event(status_of(context, "input_required", "Which dates?"))
        else:
            await book.wait()
            await queue.enqueue_event(status_of(context, "completed"))

    return Executor(work, resumable=True)


@asynccontextmanager
async def local() -> AsyncIterator[Desk]:
    book = asyncio.Event()
    house = House(hotel(book))
    yield Desk((house.log, house.engine), house.engine, [house.executor], book)


@asynccontextmanager
async def replicas(postgres: PostgresServer) -> AsyncIterator[Desk]:
    settings = postgres.settings(await postgres.migrated())
    book = asyncio.Event()
    executors = [hotel(book), hotel(book)]
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(replica_at(settings, each)) for each in executors]
        yield Desk((first.log, first.engine), second.engine, executors, book)


@pytest.fixture
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """A desk whose task waits with its first question."""
    alone = request.param == "local"
    async with local() if alone else replicas(request.getfixturevalue("postgres")) as made:
        await made.begin()
        await made.question("Which city?")
        yield made


engines = pytest.mark.parametrize("desk", ENGINES, indirect=True)


@engines
@pytest.mark.parametrize("verdict", [False, True], ids=["a new request", "an answer"])
async def test_a_task_that_is_answered_while_a_message_is_judged_goes_on_and_the_message_is_a_new_request(
    desk: Desk, verdict: bool
) -> None:
    judge = Judge(lambda _: verdict)
    routed = desk.judged(judge)
    await judge.entered.wait()
    await desk.begin("Rome")
    await desk.booking()
    judge.let.set()
    assert await routed == ""
    desk.book.set()
    assert await desk.end() == "completed"
    assert [each.canceled for each in desk.executors] == [[] for _ in desk.executors]


@engines
@pytest.mark.parametrize(("answers", "state"), [(True, "input_required"), (False, "canceled")])
async def test_a_message_is_judged_again_where_the_task_asks_something_else_meanwhile(
    desk: Desk, answers: bool, state: str
) -> None:
    judge = Judge(lambda question: answers and question == "Which dates?")
    routed = desk.judged(judge)
    await judge.entered.wait()
    await desk.begin("Oslo")
    await desk.question("Which dates?")
    judge.let.set()
    assert await routed == ("a" if answers else "")
    assert judge.asked == ["Which city?", "Which dates?"]
    assert await desk.end() == state


@engines
async def test_a_task_that_still_waits_when_a_message_was_judged_a_new_request_is_canceled(
    desk: Desk,
) -> None:
    judge = Judge(lambda _: False)
    judge.let.set()
    assert await desk.judged(judge) == ""
    assert await desk.end() == "canceled"
