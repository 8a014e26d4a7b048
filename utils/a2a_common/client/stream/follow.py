"""One message to an agent and its task: sent once, followed to its end, resumed after a broken stream.

If a stream ends before its task, the client calls GetTask and SubscribeToTask and never sends a second message: the
stream broke, or the agent stops and continues the task after its restart. The same happens after a stream with
unreadable elements: its account of the end of the task may be incomplete, so the task from GetTask counts. If it is
unknown whether a message arrived, the client searches for it by its id. It sends the message again only if the search
proves that it did not arrive, or if the agent recognises a repeated message. A message that certainly was not accepted,
for example by a busy agent, is sent again unchanged.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from utils.a2a_common.client.stream.arrival import SearchResult, look_for
from utils.a2a_common.client.stream.asking import BROKEN, retried
from utils.a2a_common.client.stream.decode import (
    decode,
    decode_task,
    is_read,
    is_without_answer,
    resubscribe_seconds,
    with_last_message,
)
from utils.a2a_common.client.stream.events import (
    ENDED_STATES,
    SETTLED_STATES,
    AgentAway,
    MessageReceived,
    PeerEvent,
    StatusChanged,
    TaskSnapshot,
)
from utils.a2a_common.client.stream.one_stream import (
    Own,
    read_out,
    settles,
    shows_the_end,
    until_over,
    until_silent,
    waits,
)
from utils.a2a_common.client.stream.patience import PATIENCE, Patience, Silence
from utils.a2a_common.client.stream.undelivered import is_forgotten, perhaps_taken
from utils.a2a_common.client.transport.errors import (
    AgentBusy,
    ConnectionLost,
    CredentialsRefused,
    FailedInside,
    NoProgress,
    NotAuthorised,
    OutcomeUnclear,
    PeerError,
    RequestRefused,
    UnusableAnswer,
    never_taken,
)
from utils.a2a_common.client.transport.limits import MOST_EVENTS, PeerLimits

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message, StreamResponse, Task

    from utils.a2a_common.client.transport.connection import Connection

OnUnread = Callable[[UnusableAnswer], None]

_NOTHING_SAID = "The agent ended its answer without a task or a message."
_UNREAD = "an element of its stream is neither a task nor a message, nor an update of one"


def _ignore_unread(_error: UnusableAnswer) -> None:
    """Default `OnUnread`: does nothing."""


async def follow_message(
    connection: Connection,
    message: Message,
    *,
    maybe_sent: bool = False,
    known_task: str = "",
    patience: Patience = PATIENCE,
    on_unread: OnUnread = _ignore_unread,
) -> AsyncGenerator[PeerEvent, None]:
    """Send `message` and yield everything until its task ends or waits for the user.

    Args:
        connection: Reaches the agent.
        message: The message to send.
        maybe_sent: Whether it may have been sent before, as by a process that ended: then it is looked for first.
        known_task: The task that it is known to have begun then; it is followed, and nothing is sent.
        patience: How long the agent is waited for.
        on_unread: Called with the reason why something that the agent sent could not be read.

    Raises:
        PeerError: The agent cannot be reached, refused the message, or stopped without an end.
        OutcomeUnclear: It may have carried the message out, and its outcome is unknown.
        PeerLimitExceeded: It sent too much.
        ProtocolViolation: It sent what cannot be stored or shown.
    """
    following = _Following(connection, known_task or message.task_id, patience, on_unread)
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
    except (*BROKEN, RequestRefused) as error:  # such as an agent that has lost the task
        if isinstance(error, CredentialsRefused | NotAuthorised):
            raise
        if connection.knows_repeated:
            raise perhaps_taken(error, message) from error
        raise OutcomeUnclear(error) from error


async def follow_task(
    connection: Connection, task_id: str, *, patience: Patience = PATIENCE
) -> AsyncGenerator[PeerEvent, None]:
    """Yield a task's snapshot and what follows, over as many streams as it takes, until it ends or waits."""
    async with aclosing(_Following(connection, task_id, patience).resumed()) as events:
        async for event in events:
            yield event


class _Following:
    """The state of following one task.

    Attributes:
        settled: Whether the task ended or waits for the user, or the answer was a plain message.
        ended: Whether it ended, so that later events do not belong to it.
    """

    def __init__(
        self,
        connection: Connection,
        task_id: str,
        patience: Patience,
        on_unread: OnUnread = _ignore_unread,
    ) -> None:
        self._connection = connection
        self._on_unread = on_unread
        self._unread: UnusableAnswer | None = None
        self._patience = patience
        self._task_id = task_id
        self._streams = connection.streams
        self._responses = 0
        self._received = self._answered = self._found = False
        self._restarts_in = 0.0
        self.settled = False
        self.ended = False

    async def sent(self, message: Message, *, maybe_sent: bool) -> AsyncGenerator[PeerEvent, None]:
        """The events of the message until its stream ends or breaks."""
        if maybe_sent:
            async with aclosing(self._sought(message, None)) as sought:
                async for event in sought:
                    yield event
            if self._found:
                return
        attempt, began = 0, self._clock()
        unsure: PeerError | None = None
        give_up, back_by = began + self._patience.busy_seconds, began + self._patience.restart_seconds
        while True:
            self._unread = None
            try:
                async with aclosing(self._first(message)) as events:
                    async for event in events:
                        yield event
            except AgentBusy as error:
                if self._clock() + error.retry_after >= give_up:
                    raise (perhaps_taken(unsure, message) if unsure else error) from error
                yield AgentAway(error.retry_after, busy=True)
                await asyncio.sleep(error.retry_after)
                continue
            except (*BROKEN, FailedInside) as error:
                lost: PeerError = error
            except RequestRefused as error:
                if (unsure or maybe_sent) and is_forgotten(error, message):
                    raise OutcomeUnclear(error) from error
                raise
            else:
                if self._received:
                    return
                lost = self._unread or NoProgress(_NOTHING_SAID)
            if self._answered:
                return
            attempt += 1
            seconds = self._patience.wait(attempt)
            restarts = isinstance(lost, ConnectionLost) and self._clock() + seconds < back_by
            last = (attempt >= self._patience.sends and not restarts) or isinstance(lost, FailedInside)
            if not never_taken(lost) and self._connection.knows_repeated:
                unsure = unsure or lost  # that a later try did not arrive proves nothing about this one
            if last and never_taken(lost):
                raise perhaps_taken(unsure, message) if unsure else lost
            if restarts:
                yield AgentAway(seconds, busy=False)
            await asyncio.sleep(seconds)
            async with aclosing(self._looked_for(message, lost)) as found:
                async for event in found:
                    yield event
            if self._found:
                return
            if last:
                raise perhaps_taken(unsure, message) if unsure else lost

    def _first(self, message: Message) -> AsyncGenerator[PeerEvent, None]:
        """The events of the stream that answers a message."""
        reply, seconds = bool(message.task_id), self._patience.silent_seconds
        return until_over(
            self._stream(self._connection.send(message), reply),
            lambda: shows_the_end(self._connection, self._task_id, reply=reply, seconds=seconds),
            seconds,
        )

    async def resumed(self) -> AsyncGenerator[PeerEvent, None]:
        """The current task and its later events."""
        if not self._task_id:
            raise OutcomeUnclear(NoProgress(_NOTHING_SAID))
        silence = Silence(self._patience, self._clock)
        while not self.settled:
            if seconds := self._restarts_in:
                self._restarts_in = 0.0
                silence.unknown()
                yield AgentAway(seconds, busy=False)
                await asyncio.sleep(seconds)
            task: Task | None = None
            async with aclosing(self._look()) as looks:
                async for found in looks:
                    if isinstance(found, AgentAway):
                        silence.unknown()
                        yield found
                    else:
                        task = found
            assert task is not None
            if silence.seen(task.SerializeToString(deterministic=True)):
                for event in self._noted(decode_task(task)):
                    yield event
            if self.settled:
                return
            silence.check(self._task_id)
            async with aclosing(self._renewed(silence)) as events:
                async for event in events:
                    yield event

    async def _stream(
        self, responses: AsyncGenerator[StreamResponse, None], reply: bool = False, task_id: str = ""
    ) -> AsyncGenerator[PeerEvent, None]:
        """The events of a stream up to the end of its task, which is `task_id` or the first that it names.

        What belongs to another task is left out. With `reply`, so is the task as it stood before the answer. Of a stream
        that held what cannot be read the end is left out too: the task is looked at then.
        """
        own = Own(task_id)
        async with aclosing(responses):
            async for response in self._counted(responses):
                if not is_read(response):
                    self._note_unread(UnusableAnswer(_UNREAD, answered=True))
                    continue
                self._received = True
                if reply and not self._answered and waits(response):
                    continue
                self._answered = True
                if not own.has(response):
                    continue
                self._restarts_in = min(resubscribe_seconds(response) or 0.0, self._patience.away_seconds)
                if self._unread and settles(response):
                    self._task_id = own.task_id
                    return
                for event in self._noted(decode(response)):
                    yield event
                if self.ended:
                    await read_out(responses)
                    return

    async def _counted(
        self, responses: AsyncGenerator[StreamResponse, None]
    ) -> AsyncGenerator[StreamResponse, None]:
        """The elements of a stream, as many as are taken of one agent."""
        try:
            async for response in responses:
                self._responses += 1
                if self._responses > MOST_EVENTS:
                    raise PeerLimits(self._connection.name).exceeded(f"more than {MOST_EVENTS:,} events")
                yield response
        except UnusableAnswer as error:
            if error.answered:
                self._note_unread(error)
            raise

    def _note_unread(self, error: UnusableAnswer) -> None:
        if self._unread is None:
            self._on_unread(error)
        self._unread = error

    async def _renewed(self, silence: Silence) -> AsyncGenerator[PeerEvent, None]:
        """A renewed stream, which opens with a snapshot; ends when it breaks, ends or is silent."""
        began = self._clock()
        if self._streams:
            stream = self._stream(self._connection.subscribe(self._task_id), task_id=self._task_id)
            async with aclosing(stream):
                try:
                    async for event in until_silent(stream, self._patience.listen_seconds):
                        yield event
                except BROKEN:
                    silence.unknown()
                except RequestRefused as error:
                    self._streams = not error.unsupported
                    silence.unknown()
                else:
                    silence.stream_ended(self._clock() - began)
        if not self.settled:
            await asyncio.sleep(silence.pause())

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
        looks = retried(lambda: look_for(self._connection, message, artifacts=True), self._patience)
        try:
            async with aclosing(looks):
                async for found in looks:
                    if isinstance(found, AgentAway):
                        yield found
                        continue
                    for event in self._seen(found):
                        yield event
                    if not self._found and (isinstance(lost, FailedInside) or not found.may_send):
                        raise OutcomeUnclear(lost)
        except BROKEN as error:
            if self._connection.knows_repeated:
                raise perhaps_taken(error, message) from error
            raise OutcomeUnclear(lost or error) from error

    def _seen(self, found: SearchResult) -> Iterator[PeerEvent]:
        self._found = bool(found.events)
        return self._noted(found.events)

    async def _look(self) -> AsyncGenerator[Task | AgentAway, None]:
        """The current task, after each wait for an agent that cannot be reached.

        Raises:
            UnusableAnswer: The task does not hold what could not be read of its stream.
            PeerError: It was not shown.
        """
        try:
            async with aclosing(
                retried(lambda: self._connection.get_task(self._task_id), self._patience)
            ) as looks:
                async for found in looks:
                    if isinstance(found, AgentAway) or self._unread is None:
                        yield found
                    elif is_without_answer(completed := with_last_message(found)):
                        raise self._unread
                    else:
                        yield completed
        except RequestRefused as error:
            if self._unread is None or isinstance(error, CredentialsRefused | NotAuthorised):
                raise
            raise self._unread from error

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
