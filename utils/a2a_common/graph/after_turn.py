"""Work on a conversation after an answer: finds constraints, and makes room for the next turn.

It runs in the background: no turn waits for it, a turn that begins in the meantime goes first, and a failure is only
logged. The results and their cost are in the conversation's state from the next turn on. Only one pass at a time makes
room in a conversation; the next one continues from the stored result of the one before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ParamSpec

import structlog
from langchain_core.messages import SystemMessage

from utils.a2a_common.graph.constraint_finder import ConstraintFinder, FoundConstraints
from utils.cancellation import end_tasks
from utils.context.compaction import Compaction
from utils.context.middleware import SUMMARIES, Ahead
from utils.context.overtaken import brought_up
from utils.context.refused import Refused, decisions_without, without_refused
from utils.context.worker_thread import call, is_large
from utils.events import Usage
from utils.keyed_locks import KeyedLocks
from utils.messages.transcript import with_ids

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

    from utils.a2a_common.graph.run.graph_run import BuiltGraph
    from utils.context.middleware import ContextMiddleware

log = structlog.get_logger(__name__)

AT_ONCE = 8
"""Conversations that are worked on at once; one more is left to the next turn."""

MOST_HELD = 32
"""Conversations that wait for their user while something made for them waits to be stored; of more, the oldest is dropped."""

CONSTRAINTS = "constraints"
"""Name under which the usage of questions for constraints is reported."""

P = ParamSpec("P")


class AfterTurn:
    """The work after turns, for one agent.

    Args:
        context: The agent's context management.
        finder: Finds the constraints that a message states.
        threads: The locks under which the turns of each thread run.
    """

    def __init__(
        self, context: ContextMiddleware, finder: ConstraintFinder, threads: KeyedLocks[str]
    ) -> None:
        self._context = context
        self._finder = finder
        self._threads = threads
        self._tasks: set[asyncio.Task[None]] = set()
        self._wanted: dict[str, tuple[BuiltGraph, RunnableConfig] | None] = {}
        self._held: dict[str, Ahead] = {}

    def begin(
        self,
        built: BuiltGraph,
        config: RunnableConfig,
        text: str | None,
        *,
        of_user: bool = True,
        size: int | None = None,
    ) -> None:
        """Begin the work after a turn.

        Args:
            built: The agent's graph.
            config: The config of the conversation's thread.
            text: The user's message; the conversation's last one where the turn went on after a question.
            of_user: Whether a user wrote it: another agent's text states no constraints.
            size: Approximate tokens of the conversation, which is not read if it has room; `None` if unknown.
        """
        thread = config["configurable"]["thread_id"]
        lacks_room = self._context.policy.may_lack_room(size)
        under_way = thread in self._wanted
        if lacks_room and under_way:
            self._wanted[thread] = built, config
        if len(self._tasks) >= AT_ONCE:
            return
        if of_user and self._finder.is_needed(text):
            self._start(self._constraints, built, config, text)
        if lacks_room and not under_way:
            self._wanted[thread] = built, config
            self._start(self._make_room, thread)

    async def close(self) -> None:
        """Stop the running work."""
        await end_tasks(list(self._tasks))

    def _start(self, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        task = asyncio.create_task(self._guarded(work, *args, **kwargs))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await work(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a background task: the next turn does without its result
            log.warning("context.after_turn_failed", error=type(error).__name__)

    async def _constraints(self, built: BuiltGraph, config: RunnableConfig, text: str | None) -> None:
        values = (await built.graph.aget_state(config)).values
        found = await self._finder.find(values.get("messages", ()), text)
        async with self._threads.of(config["configurable"]["thread_id"]):
            state = await built.graph.aget_state(config)
            update = {**_new_pins(state, found), **_cost(state.values, CONSTRAINTS, found.usage)}
            if _can_change(state) and update:
                await built.update(config, update)

    async def report(self, built: BuiltGraph, config: RunnableConfig, purpose: str, usage: Usage) -> None:
        """Count what was used after a turn; the conversation's next turn reports it."""
        async with self._threads.of(config["configurable"]["thread_id"]):
            state = await built.graph.aget_state(config)
            update = _cost(state.values, purpose, usage)
            if _can_change(state) and update:
                await built.update(config, update)

    async def _make_room(self, thread: str) -> None:
        """Make room for a conversation's next turn, and once more for what turns have added meanwhile."""
        try:
            while wanted := self._wanted[thread]:
                self._wanted[thread] = None
                await self._compaction(*wanted, thread)
        finally:
            del self._wanted[thread]

    async def _compaction(self, built: BuiltGraph, config: RunnableConfig, thread: str) -> None:
        if held := self._held.pop(thread, None):
            await self._store(built, config, thread, held)
        async with self._threads.of(thread):
            state = await built.graph.aget_state(config)
        if not _can_change(state):
            return
        made = await self._context.compact_ahead(
            state.values,
            system=SystemMessage(built.system),
            tools=[*built.tools, *self._context.tools],
        )
        if made is not None:
            await self._store(built, config, thread, made)

    async def _store(self, built: BuiltGraph, config: RunnableConfig, thread: str, made: Ahead) -> None:
        """Store the prepared compaction, even if turns have left out messages since; if the user is being asked, store it after the answer."""
        async with self._threads.of(thread):
            state = await built.graph.aget_state(config)
            messages = state.values.get("messages")
            if messages and not _can_change(state):
                self._hold(thread, made)
                return
            if not messages:
                return
            refused, whole = Refused.from_state(state.values), with_ids(messages)
            shown = without_refused(whole, refused)
            now, done = (
                decisions_without(Compaction.from_state(each), whole, shown, refused)
                for each in (state.values.get("compaction"), made.compaction)
            )
            kept = await call(is_large(messages), brought_up, shown, done, now, self._context.counter)
            update = _cost(state.values, SUMMARIES, made.usage)
            if kept != now:
                await self._context.keep(thread, made.artifacts)
                update["compaction"] = kept.as_state()
            if update:
                await built.update(config, update)

    async def forget(self, thread: str) -> None:
        """Delete the stored texts of a conversation, and drop its cached objects.

        Raises:
            StorageError: The texts cannot be deleted.
        """
        self._held.pop(thread, None)
        await self._context.forget(thread)

    def _hold(self, thread: str, made: Ahead) -> None:
        self._held[thread] = made
        if len(self._held) > MOST_HELD:
            del self._held[next(iter(self._held))]


def _can_change(state: Any) -> bool:
    """Whether the conversation is still there and no turn of it is under way or waits for its user."""
    return bool(state.values.get("messages")) and not state.next and not state.interrupts


def _new_pins(state: Any, found: FoundConstraints) -> dict[str, Any]:
    message = _user_message(state.values.get("messages", ()), found.text)
    if message is None:
        return {}
    known = [list(pin) for pin in state.values.get("pinned") or ()]
    new = [pin for quote in found.quotes if (pin := [quote, str(message.id)]) not in known]
    return {"pinned": [*known, *new]} if new else {}


def _cost(values: Mapping[str, Any], purpose: str, usage: Usage) -> dict[str, Any]:
    if usage == Usage():
        return {}
    known = dict(values.get("unreported") or {})
    before = Usage(**known.get(purpose, {}))
    return {"unreported": {**known, purpose: asdict(before + usage)}}


def _user_message(messages: list[BaseMessage], text: str) -> BaseMessage | None:
    """The user's last message with this text."""
    from utils.messages.text import message_text

    found = (each for each in reversed(messages) if each.type == "human" and message_text(each) == text)
    return next(found, None)
