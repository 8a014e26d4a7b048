"""One run of an agent's graph, from the user's message or answer to its end; leaves no tool call open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.constants import END
from langgraph.types import Command

from utils.a2a_common.graph.questions.interrupts import resume_value
from utils.a2a_common.graph.run.done_effects import note_done
from utils.a2a_common.graph.run.recovery import (
    TURN,
    RecoveredTurn,
    ResumePoint,
    answers_had,
    recovery_of,
    stored_answer,
)
from utils.a2a_common.graph.run.stream_translator import (
    MODEL_NODE,
    STREAM_MODES,
    STRUCTURED,
    StreamTranslator,
)
from utils.a2a_common.graph.run.user_message import Content, answer_data, answer_text, user_content
from utils.a2a_common.graph.tools.boundary import may_have_an_effect
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.tasks.begun_effects import has_begun
from utils.context.refusals import REFUSED
from utils.context.refused import Refused
from utils.errors import ModelFailure
from utils.events import AgentEvent, TextRestarted
from utils.messages.notes import dated, own_words_length, timestamped
from utils.messages.question import Question
from utils.messages.text import text_of
from utils.resilience.ledger import MayHaveRun, close_open_calls

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool
    from langgraph.types import Interrupt, StateSnapshot

log = structlog.get_logger(__name__)


class BuiltGraph(NamedTuple):
    """A graph and what it was made from; exchanged as one.

    Attributes:
        graph: The compiled graph.
        system: The system prompt.
        tools: All tools.
        writer: The node in whose name the conversation's state is updated between turns.
        agents: The nodes of an own graph that are agents themselves; empty for the usual graph.
        reasoning: Whether the model's reasoning is shown.
        takes: Media types of the files that the model takes.
        dated: Whether the date is added for the model; the offline model has a clock.
        form: Name of the form that answers fill; empty where they fill none.
        only_reads: Whether it changes nothing: all tools are read-only, and no node of an own graph may do something else.
    """

    graph: Any
    system: str
    tools: Sequence[BaseTool]
    writer: str = MODEL_NODE
    agents: frozenset[str] = frozenset()
    reasoning: bool = False
    takes: tuple[str, ...] = ()
    dated: bool = False
    form: str = ""
    only_reads: bool = False

    async def update(self, config: RunnableConfig, values: Mapping[str, Any]) -> None:
        """Change the state of a conversation between turns; no node runs because of it."""
        await self.graph.aupdate_state(config, values, as_node=self.writer)
        if self.agents:  # nodes after this one in an own graph must not run now
            await self.graph.aupdate_state(config, None, as_node=END)


def _of_the_task(state: StateSnapshot) -> list[BaseMessage]:
    """What model and tools added since the user's last message: an answer to a question adds none."""
    found: list[BaseMessage] = []
    for message in reversed(state.values.get("messages", ())):
        if isinstance(message, HumanMessage):
            break
        found.append(message)
    return found


class GraphRun:
    """Runs one request on a graph. Made per request, so that nothing is shared between turns.

    Args:
        built: The graph; a rebuilt agent's running turns keep the one that they began with.
        agent: Name of the agent.
        request: The request.
        config: Names the conversation's thread.
    """

    def __init__(self, built: BuiltGraph, agent: str, request: AgentRequest, config: RunnableConfig) -> None:
        self._built = built
        self._graph = built.graph
        self._takes = built.takes
        self._dated = built.dated
        self._request = request
        self._config = config
        self._asked: Sequence[Interrupt] = ()
        self._recovery: RecoveredTurn | None = None
        self._turn = StreamTranslator(
            agent,
            request.used,
            agents=built.agents,
            tools=frozenset(tool.name for tool in built.tools),
            reasoning=built.reasoning,
            form=built.form,
        )

    async def open(self) -> StateSnapshot:
        """Find where the turn begins. If it begins with a message, close the tool calls that an earlier turn left open.

        Returns:
            The conversation as the turn finds it.
        """
        state: StateSnapshot = await self._graph.aget_state(self._config)
        if self._request.recovered:
            self._recovery = await self._recovered(state)
            self._recall(self._recovery)
        elif self._request.resumes:
            self._asked = state.interrupts
        if self._asked:
            self._turn.recall_unknown(_of_the_task(state))
        if not self._asked and not self.goes_on and await self._close_open_calls(state, self._left_by(state)):
            state = await self._graph.aget_state(self._config)
        return state

    async def _close_open_calls(self, state: StateSnapshot, may_have_run: MayHaveRun) -> int:
        return await close_open_calls(self._graph, self._config, state, may_have_run)

    def _left_by(self, state: StateSnapshot) -> MayHaveRun:
        """Which calls of an earlier process may have had an effect. A call that waits for the user had none."""
        changing = {tool.name for tool in self._built.tools if may_have_an_effect(tool)}
        return lambda _, tool: tool in changing and not state.interrupts

    @property
    def is_answer(self) -> bool:
        """Whether the request is the answer to a question, known once the turn is open."""
        return bool(self._asked) or (self._recovery is not None and self._recovery.earlier)

    @property
    def goes_on(self) -> bool:
        """Whether the graph has taken in the request already, in a process that died."""
        points = (ResumePoint.CHECKPOINT, ResumePoint.FINISHED)
        return self._recovery is not None and self._recovery.point in points

    @property
    def waits(self) -> bool:
        """Whether the turn ended with a question to the user."""
        return self._turn.waits

    @property
    def size(self) -> int | None:
        """Approximate tokens of the conversation after the turn; `None` if unknown."""
        return self._turn.size

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """The graph's run as events, without the last ones.

        No tool call is left open, unless it waits for the user or the turn continues in another process.
        """
        if self._recovery is not None:
            yield TextRestarted()
        if self._recovery is not None and self._recovery.point is ResumePoint.FINISHED:
            for event in await self._stored():
                yield event
            return
        if not self._may_answer():
            log.warning("approval.unchecked", task_id=self._request.task_id)
            self._turn.ask(self._asked)
            return
        canceled = False
        try:
            async with aclosing(self._parts()) as parts:
                async for part in parts:
                    for event in self._turn.translate(*part):
                        yield event
        except ModelFailure:
            if self._turn.taken_back:
                yield TextRestarted()
            raise
        except asyncio.CancelledError:
            canceled = True
            raise
        finally:
            if (
                self._turn.ledger.pending_tool_calls
                and not self._turn.waits
                and not self._request.suspended.is_set()
            ):
                state = await self._graph.aget_state(self._config)
                # a user who cancels a turn knows that its calls are interrupted; after a crash that must be reported
                await self._close_open_calls(state, lambda call, _: not canceled and has_begun(call))
            if self._turn.refused and not self._turn.waits and not self._request.suspended.is_set():
                await self._leave_out(self._turn.refused)
        if self._turn.waits:
            self._turn.ask((await self._graph.aget_state(self._config)).interrupts)
        elif self.goes_on and not self._turn.has_text:
            for event in await self._answered_before():
                yield event

    async def _leave_out(self, turns: Sequence[str]) -> None:
        """Keep turns that the model's provider refused out of later requests. The run is over, however it ended."""
        values = (await self._graph.aget_state(self._config)).values
        refused = Refused.from_state(values).with_turns(turns)
        await self._graph.aupdate_state(self._config, None, as_node=END)
        await self._built.update(self._config, {REFUSED: refused.as_state()})
        await self._graph.aupdate_state(self._config, None, as_node=END)

    def _parts(self) -> AsyncGenerator[tuple[Sequence[str], str, Any], None]:
        """The graph's stream. Each checkpoint names the turn, and is stored before the step that follows it."""
        named: RunnableConfig = {
            **self._config,
            "metadata": {**self._config.get("metadata", {}), TURN: self._request.turn_id},
        }
        run: AsyncGenerator[tuple[Sequence[str], str, Any], None] = self._graph.astream(
            self._entry(),
            named,
            stream_mode=STREAM_MODES,
            context=self._request,
            subgraphs=True,
            durability="sync",
        )
        return run

    def finish(self) -> Iterator[AgentEvent]:
        """The last events of the turn; the very last one ends it."""
        return self._turn.finish()

    def _entry(self) -> Any:
        """The input of the graph: nothing if it resumes, an answer to the first open question, or a message."""
        if self.goes_on:
            return None
        if self._asked:
            return Command(resume={self._asked[0].id: self._answer()})
        request = self._request
        return {"messages": [self._user_message(user_content(request, self._takes))]}

    def _may_answer(self) -> bool:
        """Whether the message may answer the open question. It approves only the change for which the server checked the sender.

        The task and the conversation are stored separately. A task of an earlier version does not record what its
        question asks for if its client accepts no forms: then the same question is asked again, with its form.
        """
        wanted = Question.of(self._asked[0].value).digest if self._asked else ""
        return not wanted or self._request.approves in (None, wanted)

    def _user_message(self, content: Content) -> HumanMessage:
        """The user's message. Its time is stored with it, so that later requests have the same prefix."""
        now = datetime.now(UTC)
        kept = {**timestamped(now), **(dated(now.date()) if self._dated else {})}
        own = self._request.text if self._request.text.strip() else ""
        if len(text_of(content)) > len(own):
            kept |= own_words_length(len(own))
        return HumanMessage(content, id=self._request.turn_id or None, additional_kwargs=kept)

    def _answer(self) -> Any:
        """The user's answer as the value that the graph is resumed with."""
        return resume_value(answer_text(self._request), answer_data(self._request))

    async def _recovered(self, state: StateSnapshot) -> RecoveredTurn:
        had: list[Any] = []
        if self._request.resumes and state.interrupts:
            stored = await self._graph.checkpointer.aget_tuple(self._config)
            had = answers_had(stored.pending_writes or (), state.interrupts[0], state) if stored else []
        found = recovery_of(
            state, self._request.turn_id, answers=self._request.resumes, had=had, answer=self._answer()
        )
        if found.point is ResumePoint.ANSWER:
            self._asked = state.interrupts
        log.info("turn.recovered", point=found.point.name.lower(), messages=len(found.done))
        return found

    def _recall(self, recovery: RecoveredTurn) -> None:
        """Count the usage of the process that died, as far as checkpoints hold it."""
        note_done(recovery.done, self._built.tools)
        used = self._turn.recall(recovery.done, whole_task=recovery.earlier)
        self._request.meter.add(used, sum(isinstance(each, AIMessage) for each in recovery.done))

    async def _answered_before(self) -> list[AgentEvent]:
        """The answer that the model had given before its process died, where only the nodes after the model ran again."""
        state = await self._graph.aget_state(self._config)
        last = next(reversed(state.values.get("messages", ())), None)
        return self._turn.repeat(last) if isinstance(last, AIMessage) and not last.tool_calls else []

    async def _stored(self) -> list[AgentEvent]:
        """The answer of a graph that had finished."""
        assert self._recovery is not None
        state = await self._graph.aget_state(self._config)
        answer = stored_answer(self._recovery.done)
        return [] if answer is None else self._turn.repeat(answer, state.values.get(STRUCTURED))
