"""A user: sends messages, reads the answers, answers questions, cancels, leaves, comes back, and sends again."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from a2a.auth.user import UnauthenticatedUser
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
)
from a2a.utils.errors import A2AError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError

from benchmarks.simulate.connection import ConnectionLost, Source, call, stream
from benchmarks.simulate.facts import Reading, Request
from benchmarks.simulate.script import Ids, user_message
from benchmarks.simulate.view import (
    INTERRUPTED,
    SETTLED,
    TERMINAL,
    Said,
    Seen,
    Snapshot,
    Status,
    snapshot_of,
    state_name,
)
from benchmarks.simulate.webhooks import webhook

if TYPE_CHECKING:
    from benchmarks.simulate.service_world import Node, ServiceWorld

STYLES = ("stream", "stream", "blocking", "at once")
FIRST_ENDINGS = ("done", "done", "done", "ask", "ask", "ask", "fail", "raise", "silent", "reject", "message")
LATER_ENDINGS = ("done", "done", "ask", "fail", "raise")


class User:
    """One user with one conversation.

    Attributes:
        name: For the trace.
        task: The task that is worked on, as far as the user knows.
    """

    def __init__(self, world: ServiceWorld, name: str) -> None:
        self.world = world
        self.name = name
        self.task = ""
        self._lots = world.lots
        self._over = False
        self._messages = 0

    async def run(self) -> None:
        """Some requests, one after the other."""
        await asyncio.sleep(self._lots.uniform(0.0, 5.0))
        for _ in range(self._lots.randint(1, 3)):
            await self._ask()
            await asyncio.sleep(self._lots.choice((0.0, 0.0, 1.0, 8.0)))
        self._over = True

    async def watch(self) -> None:
        """Look at the task from elsewhere: subscribe, get, cancel, send the same again."""
        while not self._over:
            await asyncio.sleep(self._lots.uniform(0.05, 6.0))
            if self.task:
                node = await self.world.node()
                try:
                    await self._look(node, self.task)
                except (ConnectionLost, A2AError) as error:
                    self._note(f"watching: {type(error).__name__}")

    async def _look(self, node: Node, task: str) -> None:
        kind = self._lots.random()
        if kind < 0.5:
            await self._subscribe(node, task, f"{self.name} (watching)")
        elif kind < 0.8:
            await self._get(node, task)
        elif kind < 0.9:
            await self._cancel(node, task)
        else:
            await self._hook(node, task)

    # requests

    async def _ask(self) -> None:
        """One request, with the answers to all questions that it leads to."""
        state = await self._say("", FIRST_ENDINGS)
        for number in range(4):
            if state not in INTERRUPTED or self._lots.random() < 0.1:
                return
            await asyncio.sleep(self._lots.choice((0.0, 0.0, 2.0)))
            state = await self._say(self.task, LATER_ENDINGS if number < 3 else ("done",))

    async def _say(self, task: str, endings: tuple[str, ...]) -> str:
        """Send a message until it has an end, however often the connection breaks; the state that it led to."""
        self._messages += 1
        script = self.world.deal(endings)
        ids = Ids("", f"c-{self.name}", f"{self.name}.m{self._messages}")
        known = Request(
            ids.message, artifacts=tuple(script.artifacts(ids.message).items()), follows=bool(task)
        )
        self.world.requests[ids.message] = known
        request = SendMessageRequest(message=user_message(ids, script, task=task))
        if self._lots.random() < 0.3:
            known.hook = f"hook-{ids.message}"
            request.configuration.task_push_notification_config.CopyFrom(webhook(known.hook))
        self._note(
            f"{ids.message}: {script.ending}, {len(script.steps)} steps{', in ' + task if task else ''}"
        )
        if self._lots.random() < 0.2:
            twin = asyncio.create_task(self._twin(request, known), name=f"{self.name} (twin)")
            state = await self._until_settled(request, known)
            await twin
            return state
        return await self._until_settled(request, known)

    async def _until_settled(self, request: SendMessageRequest, known: Request) -> str:
        while True:
            node = await self.world.node()
            try:
                state = await self._once(node, request, known)
            except ConnectionLost:
                state = ""
                self._note("connection lost")
            except UnsupportedOperationError as error:
                if request.message.task_id and "ended" in str(error):
                    return "ended"
                state = ""
            except A2AError as error:
                self._note(f"{type(error).__name__}: {error}")
                state = ""
            if state:
                return state
            known.again |= not known.accepted
            await asyncio.sleep(self._lots.choice((0.05, 0.5, 3.0)))

    async def _once(self, node: Node, request: SendMessageRequest, known: Request) -> str:
        """One try: send, or where the message is accepted, look for its end; the state that settles it."""
        if not known.accepted or self._lots.random() < 0.3:
            return await self._send(node, request, known)
        task = known.tasks[-1]
        if self._lots.random() < 0.5:
            await self._subscribe(node, task, self.name)
        found = await self._get(node, task)
        return _settled_by(found, known.message)

    async def _twin(self, request: SendMessageRequest, known: Request) -> None:
        """The same message, sent a second time meanwhile."""
        await asyncio.sleep(self._lots.uniform(0.0, 3.0))
        node = await self.world.node()
        try:
            await self._send(node, request, known)
        except (ConnectionLost, A2AError) as error:
            self._note(f"twin: {type(error).__name__}")

    async def _send(self, node: Node, request: SendMessageRequest, known: Request) -> str:
        style = self._lots.choice(STYLES)
        self._note(f"sends {known.message} ({style}) to {node.process.name}")
        sent = SendMessageRequest()
        sent.CopyFrom(request)
        if style == "stream":
            return await self._send_stream(node, sent, known)
        sent.configuration.return_immediately = style == "at once"
        answer = await call(node, lambda: node.handler.on_message_send(sent, _call()))
        if isinstance(answer, Message):
            return "said"
        self._accepted(known, answer.id, snapshot_of(answer).state)
        self._read(node, answer, "answer")
        return _settled_by(answer, known.message)

    async def _send_stream(self, node: Node, sent: SendMessageRequest, known: Request) -> str:
        reading = Reading(f"{self.name} at {node.process.name}", sent.message.task_id, node.process.name)
        reading.whole = not sent.message.task_id
        state = await self._follow(
            node, reading, known, lambda: node.handler.on_message_send_stream(sent, _call())
        )
        return state if reading.ended else ""

    async def _subscribe(self, node: Node, task: str, name: str) -> None:
        reading = Reading(f"{name} (subscribed) at {node.process.name}", task, node.process.name)
        request = SubscribeToTaskRequest(id=task)
        await self._follow(node, reading, None, lambda: node.handler.on_subscribe_to_task(request, _call()))

    async def _follow(self, node: Node, reading: Reading, known: Request | None, source: Source) -> str:
        """Read a stream to its end, or leave it on the way."""
        self.world.setting.facts.readings.append(reading)
        pace = self._lots.choice((0.0, 0.0, 0.01, 1.0))
        leaves = self._lots.choice((None, None, None, self._lots.randint(1, 10)))
        last = ""
        async with aclosing(stream(node, source)) as events:
            async for event, seen in events:
                if not reading.seen and isinstance(seen, Snapshot) and seen.texts:
                    reading.whole = True
                reading.seen.append(seen)
                reading.task = reading.task or getattr(event, "task_id", "") or getattr(event, "id", "")
                self._note(f"{reading.reader}: {str(seen)[:70]}")
                if known is not None and not isinstance(event, Message):
                    self._accepted(known, reading.task, getattr(seen, "state", ""))
                last = _state_after(seen, last)
                if leaves is not None and len(reading.seen) >= leaves:
                    self._note(f"{reading.reader}: leaves")
                    return ""
                await asyncio.sleep(pace)
        reading.ended = last in SETTLED or last == "said"
        if not reading.ended and self.world.loses_nothing(node):
            self._fault(f"{reading.reader}: the stream of task {reading.task} ended in state {last!r}")
        return last

    async def _get(self, node: Node, task: str) -> Task:
        answer = await call(node, lambda: node.handler.on_get_task(GetTaskRequest(id=task), _call()))
        assert answer is not None
        self._read(node, answer, "get")
        return answer

    async def _cancel(self, node: Node, task: str) -> None:
        self._note(f"cancels {task}")
        try:
            answer = await call(
                node, lambda: node.handler.on_cancel_task(CancelTaskRequest(id=task), _call())
            )
        except (TaskNotCancelableError, TaskNotFoundError):
            return
        assert answer is not None
        self._read(node, answer, "cancel")
        if state_name(answer.status.state) not in TERMINAL and not self._runs_elsewhere(node):
            self._fault(f"task {task} is {state_name(answer.status.state)} after its cancel was answered")

    def _runs_elsewhere(self, node: Node) -> bool:
        """Whether a turn may run in another process: one that stalled goes on beside the next, which a folder's lock excludes."""
        others = (one for one in self.world.nodes if one is not node)
        return any(one.lost.is_set() and not one.process.dead for one in others)

    async def _hook(self, node: Node, task: str) -> None:
        """Store a webhook; it hears of the task's end unless that came before."""
        self._messages += 1
        config = webhook(f"hook-{self.name}.{self._messages}")
        config.task_id = task
        create = node.handler.on_create_task_push_notification_config
        await call(node, lambda: create(config, _call()))
        if state_name((await self._get(node, task)).status.state) not in TERMINAL:
            self.world.receivers.hook(config.id, task).owed = True

    # notes

    def _accepted(self, known: Request, task: str, state: str) -> None:
        self.task = task
        known.accepted = True
        if not known.tasks or known.tasks[-1] != task:
            known.tasks.append(task)
        if known.hook:
            hook = self.world.receivers.hook(known.hook, task)
            hook.owed |= hook.stored or state not in TERMINAL  # else this very answer tells the end
            hook.whole = not (known.follows or known.again)

    def _read(self, node: Node, task: Task, how: str) -> None:
        seen = snapshot_of(task)
        reading = Reading(f"{self.name} ({how}) at {node.process.name}", task.id, node.process.name, [seen])
        reading.ended = seen.state in TERMINAL
        self._note(f"{reading.reader}: {str(seen)[:70]}")
        self.world.setting.facts.readings.append(reading)

    def _note(self, what: str) -> None:
        self.world.setting.trace.note(self.name, what)

    def _fault(self, what: str) -> None:
        self.world.setting.facts.unhandled.append(what)


def _call() -> ServerCallContext:
    return ServerCallContext(user=UnauthenticatedUser())


def _state_after(seen: Seen, before: str) -> str:
    """The state that a reader knows after an event."""
    if isinstance(seen, Status | Snapshot):
        return seen.state
    return "said" if isinstance(seen, Said) else before


def _settled_by(task: Task, message: str) -> str:
    """The state of a task where it is settled after a message; a task that has got its answer asks no more."""
    state = state_name(task.status.state)
    if state in TERMINAL:
        return state
    asks = state in INTERRUPTED and task.status.HasField("message")
    return state if asks and any(each.message_id == message for each in task.history) else ""
