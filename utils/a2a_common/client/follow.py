"""One message to an agent and what comes of it: sent once, followed to its end, taken up again after a break.

The end of a stream without an end of the task leads to GetTask and SubscribeToTask, never to a second message: the
stream broke, or the agent stops and goes on with the task after its restart. A message of which is unknown whether it
arrived is looked for by its id, and sent again only where that proves that it did not, or to an agent that knows a repeated
message. One that certainly was not taken, as by a busy agent, is sent again as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from utils.a2a_common.client.arrival import Look, look_for
from utils.a2a_common.client.decode import addressed, decode, decode_task, resubscribe_seconds
from utils.a2a_common.client.events import (
    ENDED_STATES,
    SETTLED_STATES,
    AgentAway,
    MessageReceived,
    PeerEvent,
    StatusChanged,
    TaskSnapshot,
)
from utils.a2a_common.client.one_stream import read_out, until_silent, waits
from utils.a2a_common.client.peer_errors import (
    AgentBusy,
    ConnectionLost,
    CredentialsRefused,
    NoProgress,
    NotAuthorised,
    OutcomeUnclear,
    PeerError,
    RequestRefused,
    UnusableAnswer,
    never_taken,
)
from utils.a2a_common.client.peer_limits import MOST_EVENTS, PeerLimits
from utils.resilience.timing import backoff

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message, StreamResponse, Task

    from utils.a2a_common.client.connection import Connection

Answer = TypeVar("Answer")

_BROKEN = (ConnectionLost, UnusableAnswer)
"""What may be gone at the next try."""

_NOTHING_SAID = "The agent ended its answer without a task or a message."

_LONGEST_LOOK = 2.0
"""Most seconds between two looks at a task while its agent cannot be reached: a restart takes seconds."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an agent is waited for.

    Attributes:
        sends: How often a message is sent at most that did not arrive.
        restart_seconds: How long a message is sent again beyond that while the agent cannot be reached.
        busy_seconds: How long a busy agent is asked again to take a message; for a caller with a deadline of its own there
            is no limit.
        away_seconds: How long an agent whose task is open may be out of reach, as while it restarts.
        first_wait: Seconds before the second try, doubled with each.
        quiet_seconds: How long a task whose stream broke may show no change before it is given up; for a caller with
            a deadline of its own there is no limit.
        look_seconds: How long a renewed stream may be silent before the task itself is looked at.
        pause_seconds: Between two looks at a task whose stream cannot be taken up.
    """

    sends: int = 3
    restart_seconds: float = 0.0
    busy_seconds: float = 120.0
    away_seconds: float = 60.0
    first_wait: float = 0.3
    quiet_seconds: float = 120.0
    look_seconds: float = 10.0
    pause_seconds: float = 0.5


PATIENCE = Patience()


async def follow_message(
    connection: Connection,
    message: Message,
    *,
    maybe_sent: bool = False,
    known_task: str = "",
    patience: Patience = PATIENCE,
) -> AsyncGenerator[PeerEvent, None]:
    """Send `message` and yield everything until its task ends or waits for the user.

    Args:
        connection: Reaches the agent.
        message: What is sent.
        maybe_sent: Whether it may have been sent before, as by a process that ended: then it is looked for first.
        known_task: The task that it is known to have begun then; it is followed, and nothing is sent.
        patience: How long the agent is waited for.

    Raises:
        PeerError: The agent cannot be reached, refused the message, or stopped without an end.
        OutcomeUnclear: It may have carried the message out, and does not tell.
        PeerLimitExceeded: It sent too much.
        ProtocolViolation: It sent what cannot be stored or shown.
    """
    following = _Following(connection, known_task or message.task_id, patience)
    if not known_task:
        async with aclosing(following.sent(message, maybe_sent=maybe_sent)) as events:
            async for event in events:
                yield event
    if following.settled:
        return
    try:
        async with aclosing(following.resumed()) as events:
            async for event in events:
                yield event
    except (*_BROKEN, RequestRefused) as error:  # such as an agent that has lost the task
        if connection.knows_repeated or isinstance(error, CredentialsRefused | NotAuthorised):
            raise
        raise OutcomeUnclear(error) from error


async def follow_task(
    connection: Connection, task_id: str, *, patience: Patience = PATIENCE
) -> AsyncGenerator[PeerEvent, None]:
    """Yield a task's snapshot and what follows, over as many streams as it takes, until it ends or waits."""
    async with aclosing(_Following(connection, task_id, patience).resumed()) as events:
        async for event in events:
            yield event


class _Own:
    """Tells what belongs to the task of a stream: the first task and context that it names are its own.

    Args:
        task_id: The task, where it is known before.
    """

    def __init__(self, task_id: str) -> None:
        self._task_id, self._context_id = task_id, ""

    def has(self, response: StreamResponse) -> bool:
        """Whether an element of the stream belongs to it."""
        task_id, context_id = addressed(response)
        if (task_id or self._task_id) != (self._task_id or task_id):
            return False
        if (context_id or self._context_id) != (self._context_id or context_id):
            return False
        self._task_id, self._context_id = task_id or self._task_id, context_id or self._context_id
        return True


class _Following:
    """The state of following one task.

    Attributes:
        settled: Whether the task ended or waits for the user, or the answer was a plain message.
        ended: Whether it ended, so that nothing which follows is of it.
    """

    def __init__(self, connection: Connection, task_id: str, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience
        self._task_id = task_id
        self._streams = connection.streams
        self._responses = 0
        self._heard = self._found = False
        self._restarts_in = 0.0
        self.settled = False
        self.ended = False

    async def sent(self, message: Message, *, maybe_sent: bool) -> AsyncGenerator[PeerEvent, None]:
        """What comes of the message until its stream ends or breaks."""
        if maybe_sent:
            async with aclosing(self._sought(message, None)) as sought:
                async for event in sought:
                    yield event
            if self._found:
                return
        attempt, began = 0, self._clock()
        give_up, back_by = began + self._patience.busy_seconds, began + self._patience.restart_seconds
        while True:
            try:
                async with aclosing(
                    self._stream(self._connection.send(message), bool(message.task_id))
                ) as events:
                    async for event in events:
                        yield event
            except AgentBusy as error:
                if self._clock() + error.retry_after >= give_up:
                    raise
                yield AgentAway(error.retry_after, busy=True)
                await asyncio.sleep(error.retry_after)
                continue
            except _BROKEN as error:
                lost: PeerError = error
            else:
                if self._heard:
                    return
                lost = NoProgress(_NOTHING_SAID)
            if self._responses:
                return
            attempt += 1
            seconds = self._pause(attempt)
            restarts = isinstance(lost, ConnectionLost) and self._clock() + seconds < back_by
            last = attempt >= self._patience.sends and not restarts
            if last and never_taken(lost):
                raise lost
            if restarts:
                yield AgentAway(seconds, busy=False)
            await asyncio.sleep(seconds)
            async with aclosing(self._looked_for(message, lost)) as found:
                async for event in found:
                    yield event
            if self._found:
                return
            if last:
                raise lost

    async def resumed(self) -> AsyncGenerator[PeerEvent, None]:
        """The task as it stands and what follows."""
        if not self._task_id:
            raise OutcomeUnclear(NoProgress(_NOTHING_SAID))
        clock = self._clock
        seen, deadline = b"", clock() + self._patience.quiet_seconds
        while not self.settled:
            if seconds := self._restarts_in:
                self._restarts_in = 0.0
                yield AgentAway(seconds, busy=False)
                await asyncio.sleep(seconds)
            task: Task | None = None
            async with aclosing(self._look()) as looks:
                async for found in looks:
                    if isinstance(found, AgentAway):
                        yield found
                    else:
                        task = found
            assert task is not None
            if (now := task.SerializeToString(deterministic=True)) != seen:
                seen, deadline = now, clock() + self._patience.quiet_seconds
                for event in self._noted(decode_task(task)):
                    yield event
            if self.settled:
                return
            if clock() >= deadline:
                raise NoProgress(f"The agent stopped reporting, but task {self._task_id} is not finished.")
            async with aclosing(self._renewed()) as events:
                async for event in events:
                    yield event

    async def _stream(
        self, responses: AsyncGenerator[StreamResponse, None], reply: bool = False, task_id: str = ""
    ) -> AsyncGenerator[PeerEvent, None]:
        """The events of a stream up to the end of its task, which is `task_id` or the first that it names.

        What belongs to another task is left out. With `reply`, so is the task as it stood before the answer.
        """
        own = _Own(task_id)
        async with aclosing(responses):
            async for response in responses:
                self._heard = True
                if reply and not self._responses and waits(response):
                    continue
                self._responses += 1
                if self._responses > MOST_EVENTS:
                    raise PeerLimits(self._connection.name).exceeded(f"more than {MOST_EVENTS:,} events")
                if not own.has(response):
                    continue
                self._restarts_in = min(resubscribe_seconds(response) or 0.0, self._patience.away_seconds)
                for event in self._noted(decode(response)):
                    yield event
                if self.ended:
                    await read_out(responses)
                    return

    async def _renewed(self) -> AsyncGenerator[PeerEvent, None]:
        """A renewed stream, which opens with a snapshot; ends when it breaks, ends or is silent."""
        if self._streams:
            stream = self._stream(self._connection.subscribe(self._task_id), task_id=self._task_id)
            async with aclosing(stream):
                try:
                    with suppress(*_BROKEN):
                        async for event in until_silent(stream, self._silence):
                            yield event
                except RequestRefused as error:
                    self._streams = not error.unsupported
        if not self.settled:
            await asyncio.sleep(self._patience.pause_seconds)

    @property
    def _silence(self) -> float:
        return min(self._patience.look_seconds, self._patience.quiet_seconds)

    async def _looked_for(self, message: Message, lost: PeerError) -> AsyncGenerator[PeerEvent, None]:
        """The task of a message whose answer was lost, if it is found.

        An agent that knows repeated messages is looked at once, since the next try may as well be the message.
        """
        if self._connection.knows_repeated:
            with suppress(PeerError):
                for event in self._seen(await look_for(self._connection, message, artifacts=True)):
                    yield event
        elif not never_taken(lost):
            async with aclosing(self._sought(message, lost)) as sought:
                async for event in sought:
                    yield event

    async def _sought(self, message: Message, lost: PeerError | None) -> AsyncGenerator[PeerEvent, None]:
        """The task of a message that may have been sent, after each wait for an agent that cannot be reached.

        Raises:
            OutcomeUnclear: It may have arrived, and is not found.
            PeerError: The agent was out of reach for too long, and would know the message if it came again.
        """
        looks = self._asked(lambda: look_for(self._connection, message, artifacts=True))
        try:
            async with aclosing(looks):
                async for found in looks:
                    if isinstance(found, AgentAway):
                        yield found
                        continue
                    for event in self._seen(found):
                        yield event
                    if not self._found and not found.may_send:
                        raise OutcomeUnclear(lost)
        except _BROKEN as error:
            if self._connection.knows_repeated:
                raise
            raise OutcomeUnclear(lost or error) from error

    def _seen(self, look: Look) -> Iterator[PeerEvent]:
        self._found = bool(look.events)
        return self._noted(look.events)

    def _look(self) -> AsyncGenerator[Task | AgentAway, None]:
        """The task as it stands, after each wait for an agent that cannot be reached."""
        return self._asked(lambda: self._connection.get_task(self._task_id))

    async def _asked(self, ask: Callable[[], Awaitable[Answer]]) -> AsyncGenerator[Answer | AgentAway, None]:
        """The answer to a question that may be repeated, after each wait for an agent that cannot be reached.

        Raises:
            PeerError: It was out of reach for too long, or refused to answer.
        """
        give_up, attempt = self._clock() + self._patience.away_seconds, 0
        while True:
            try:
                yield await ask()
            except _BROKEN:
                attempt += 1
                seconds = self._pause(attempt)
                if self._clock() + seconds >= give_up:
                    raise
            else:
                return
            yield AgentAway(seconds, busy=False)
            await asyncio.sleep(seconds)

    def _pause(self, attempt: int) -> float:
        return backoff(attempt, first=self._patience.first_wait, longest=_LONGEST_LOOK)

    @staticmethod
    def _clock() -> float:
        return asyncio.get_running_loop().time()

    def _noted(self, events: Iterable[PeerEvent]) -> Iterator[PeerEvent]:
        for event in events:
            self._note(event)
            yield event

    def _note(self, event: PeerEvent) -> None:
        match event:
            case TaskSnapshot() | StatusChanged():
                self._task_id = event.task_id or self._task_id
                self.settled = event.state in SETTLED_STATES
                self.ended = event.state in ENDED_STATES
            case MessageReceived():
                self.settled = self.ended = True
            case _:
                pass
