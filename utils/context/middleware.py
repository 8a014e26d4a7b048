"""LangChain middleware that runs the context pipeline before every model request.

It reads the graph's state, stores texts in the artifact store, reports compactions as events and log
lines, and writes the pipeline's decisions to the state key `compaction`. The messages in the state are
never changed; the model sees a view of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.context import announce
from utils.context.block import with_known
from utils.context.called_usage import reported_usage, summary_usage
from utils.context.compaction import Compaction
from utils.context.learnt_windows import SMALLEST, LearntWindows, key_of
from utils.context.limits import get_context_window
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import ContextPolicy
from utils.context.protocols import ArtifactStore, Summariser
from utils.context.refusals import Refusals, accepted
from utils.context.refused import Refused
from utils.context.report import Report
from utils.context.sending import charged_by, known_tools, measured, sent_request, shown_tools
from utils.context.state import ContextState, edits_of, pinned_of, report_rules
from utils.context.task_meter import calls_left, report_usage
from utils.context.tool_results import short_result
from utils.context.tool_tokens import ToolTokens
from utils.context.tools import TOOL_NAMES, Room, context_tools, scope_of
from utils.context.topic import Embed, changed_topic
from utils.errors import ContentRefused, ContextBudgetExceeded, ContextOverflow, StorageError
from utils.events import ContextCompacted, Usage
from utils.llm.classify import classify
from utils.llm.reply.finish import TurnFiltered
from utils.messages.counter import BELIEVED, MessageCounter, calibrate
from utils.messages.notes import with_short_task_note
from utils.messages.transcript import active_index, stand_in
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.process_wide import install

log = structlog.get_logger(__name__)

Announce = Callable[[ContextCompacted], None]

COMPACT_NOW = "compact_now"
"""Key in a request's state, never stored, that forces a compaction."""

_CACHED_TEXTS = 512
_NOTES_SHARE = 0.4  # characters per token of the budget: a tenth of it, or a fifth if the tokens are short
_READ_SHARE = 0.25
_SMALLER = 0.7
_MOST_REFUSALS = 4  # by then a guessed limit is a quarter of the first request

SUMMARIES = "summaries"
"""Name under which the usage of summaries is reported."""

NEXT_REQUEST = "next-request"
"""ID of the placeholder for the next request while a compaction is made ahead of it."""


class Ahead(NamedTuple):
    """A compaction that was made after an answer.

    Attributes:
        compaction: The decisions, for the graph's state.
        usage: What it cost.
        artifacts: Texts to store with it, by handle.
    """

    compaction: dict[str, Any]
    usage: Usage
    artifacts: Mapping[str, str]


class ContextMiddleware(AgentMiddleware[ContextState, Any]):
    """Makes every model request fit the model's window.

    Args:
        policy: Thresholds, with the model's window if that is known.
        artifacts: Stores texts that are left out.
        counter: Counts tokens.
        summariser: Writes summaries; if it is unset or fails, an extract is made instead.
        provider: `LLM_PROVIDER`, for the ratio of charged to counted tokens before it is measured.
        learnt: What refusals have shown of the models' windows.
        ahead: Whether `compact_ahead` is called after each turn. No request waits for a summary then.
        most_calls: Model calls that a turn may have; no limit if unset.
        embed: Tells topics apart; without it a change of topic triggers nothing.
    """

    state_schema = ContextState

    def __init__(
        self,
        policy: ContextPolicy,
        artifacts: ArtifactStore,
        *,
        counter: MessageCounter | None = None,
        summariser: Summariser | None = None,
        provider: str | None = None,
        learnt: LearntWindows | None = None,
        ahead: bool = False,
        most_calls: int | None = None,
        embed: Embed | None = None,
    ) -> None:
        super().__init__()
        install()
        self.policy = policy
        self.counter = counter or MessageCounter()
        room = Room(int(policy.input_budget * _READ_SHARE), self.counter)
        self.tools: Sequence[BaseTool] = context_tools(artifacts, room)
        self._artifacts = artifacts
        self.summariser = summariser
        self._provider = provider
        self._learnt = learnt or LearntWindows()
        self._ahead = ahead and summariser is not None and policy.use_model
        self._most_calls = most_calls
        self._embed = embed
        self._short_forms: dict[str, str] = {}
        self._tool_tokens = ToolTokens(self.counter)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """Send a request that fits. If the provider refuses it as too long, send smaller ones; if for what it holds, ones without that."""
        tools, key = known_tools(request), key_of(request.model)
        force = bool(_state(request).get(COMPACT_NOW))
        prepared = await self._prepare(request, tools, force=force)
        refused, refusals = set[int](), Refusals()
        while True:
            shown = shown_tools(tools, prepared, self._provider)
            unsent = self._tool_tokens.of_known(tools) - self._tool_tokens.of_known(shown)
            counted = prepared.report.counted - unsent
            try:
                with reported_usage(
                    charged_by(self._provider, counted, prepared.report.ratio), self.counter
                ) as reported:
                    response = accepted(await handler(sent_request(request, prepared, shown)))
                break
            except Exception as error:
                overflow = classify(error)
                if isinstance(overflow, ContentRefused | TurnFiltered):
                    request = refusals.next_request(request, prepared, overflow)
                    prepared = await self._prepare(request, tools, force=force)
                    continue
                if not isinstance(overflow, ContextOverflow) or len(refused) == _MOST_REFUSALS:
                    raise
                if prepared.report.counted in refused:
                    raise  # it cannot be made smaller, and was refused twice
                refused.add(prepared.report.counted)
                prepared = await self._shrink(request, tools, prepared, overflow)
        refusals.note(request, prepared, response)
        report = prepared.report
        if refused and report.counted < min(refused):
            self._learnt.learn(key, report.window, report.ratio)
        answers = [measured(message, counted, reported) for message in response.result]
        answered = ModelResponse(answers, response.structured_response)
        update: dict[str, Any] = {"compaction": prepared.compaction.as_state()}
        update |= report_rules(request, prepared.rules) | refusals.update(request)
        if cost := _state(request).get("unreported"):
            report_usage(request, {purpose: Usage(**counts) for purpose, counts in cost.items()})
            update["unreported"] = {}
        return ExtendedModelResponse(answered, Command(update=update) if _is_new(request, update) else None)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Truncate an oversized result before it enters the conversation; the store gets the full text."""
        result = await handler(request)
        if not isinstance(result, ToolMessage) or request.tool_call["name"] in TOOL_NAMES:
            return result
        short = short_result(result, self.policy, self.counter)
        if short is None or not await self.keep(scope_of(request.runtime.config), short.artifacts):
            return result
        log.info("context.truncated", tool=request.tool_call["name"], characters=short.characters)
        return short.message

    async def whole_text(self, scope: str, handle: str) -> str | None:
        """A stored text of a conversation by its handle; `None` where there is none."""
        return await self._artifacts.get(scope, handle)

    async def preflight(
        self,
        values: Mapping[str, Any],
        messages: Sequence[BaseMessage],
        *,
        system: SystemMessage | None,
        tools: Sequence[Any] = (),
        scope: str,
        write: Announce | None = None,
    ) -> dict[str, Any] | None:
        """Check whether a turn fits before it begins.

        Args:
            values: The graph's state.
            messages: The messages that the turn adds.
            system: The agent's system message.
            tools: The agent's tools.
            scope: The conversation's thread id.
            write: Called for each compaction.

        Returns:
            The state update that makes the turn fit, or `None` if it fits already.
        """
        history = [*values.get("messages", ()), *messages]
        request = await self._between_turns(values, history, system, tools)
        before = Compaction.from_state(values.get("compaction"))
        prepared = await prepare(request, self.policy, self._parts(history), before)
        if prepared.compaction == before:
            return None
        await self.keep(scope, prepared.artifacts)
        announce.preflight(log, prepared.report, self._summariser_name)
        if write is not None:
            for event in prepared.report.events(prepared.messages[0].id):
                write(event)
        return {"compaction": prepared.compaction.as_state()}

    async def compact_ahead(
        self, values: Mapping[str, Any], *, system: SystemMessage, tools: Sequence[Any]
    ) -> Ahead | None:
        """After an answer, make room for the next turn, if it may need it.

        Args:
            values: The graph's state.
            system: The agent's system message.
            tools: The agent's tools.

        Returns:
            What to store; `None` if there is room.
        """
        if not self._ahead:
            return None
        messages = values.get("messages", ())
        history = [*messages, stand_in("(the next request)", NEXT_REQUEST)]
        request = await self._between_turns(values, history, system, tools)
        before, parts = Compaction.from_state(values.get("compaction")), self._parts(history)
        turn = sum(map(self.counter.message, messages[active_index(messages) or 0 :]))
        charged = parts.calibration.charged(turn)
        parts = replace(parts, ahead=False)
        with summary_usage() as used:
            prepared = await prepare(request, self.policy.for_next_turn(charged), parts, before)
            if prepared.compaction == before and (topic := await self._new_topic(messages, prepared.report)):
                policy = self.policy.for_next_turn(charged, topic)
                prepared = await prepare(request, policy, parts, before)
        if prepared.compaction == before:
            return None
        announce.request(log, prepared.report, self._summariser_name)
        return Ahead(prepared.compaction.as_state(), used.total or Usage(), prepared.artifacts)

    async def _between_turns(
        self,
        values: Mapping[str, Any],
        history: Sequence[BaseMessage],
        system: SystemMessage | None,
        tools: Sequence[Any],
    ) -> Request:
        tokens = await self._tool_tokens.of(tools)
        pinned, edits, refused = pinned_of(values), edits_of(values), Refused.from_state(values)
        return Request(history, system, tokens, turn_start=True, pinned=pinned, edits=edits, refused=refused)

    async def _new_topic(self, messages: Sequence[BaseMessage], report: Report) -> int | None:
        """The messages of the last turn, if it began another topic and the conversation is long enough to make room for it."""
        at = self.policy.topic_at
        if self._embed is None or at is None or report.before < self.policy.tokens(at):
            return None
        return await changed_topic(messages, self._embed)

    async def forget(self, scope: str) -> None:
        """Delete the stored texts of a conversation.

        Raises:
            StorageError: The store failed.
        """
        await self._artifacts.delete_scope(scope)

    async def _prepare(
        self,
        request: ModelRequest[Any],
        tools: Sequence[Any],
        *,
        force: bool = False,
        policy: ContextPolicy | None = None,
        ratio: float = 0.0,
    ) -> Prepared:
        state, scope = _state(request), scope_of(get_config())
        learnt = self._learnt.of(key_of(request.model))
        policy = policy or self._policy_for(request)
        most_characters = int(policy.input_budget * _NOTES_SHARE)
        unprepared = Request(
            [with_short_task_note(message, most_characters) for message in request.messages],
            with_known(request.system_message, getattr(request.runtime.context, "known", "")),
            await self._tool_tokens.of(tools),
            pinned=pinned_of(state),
            edits=edits_of(state),
            force=force,
            calls_left=calls_left(request, self._most_calls),
            refused=Refused.from_state(state),
        )
        with summary_usage() as used:
            prepared = await prepare(
                unprepared,
                policy,
                self._parts(request.messages, max(ratio, learnt.ratio if learnt else 0.0)),
                Compaction.from_state(state.get("compaction")),
            )
        if used.total:
            report_usage(request, {SUMMARIES: used.total})
        await self.keep(scope, prepared.artifacts)
        announced = announce.preflight if prepared.report.before > prepared.report.limit else announce.request
        announced(log, prepared.report, self._summariser_name)
        count(catalogue.REPAIRS, len(prepared.report.interrupted), where="request")
        write = request.runtime.stream_writer
        for event in (*prepared.report.events(prepared.messages[0].id), prepared.report.measured):
            write(event)
        return prepared

    async def _shrink(
        self, request: ModelRequest[Any], tools: Sequence[Any], sent: Prepared, overflow: ContextOverflow
    ) -> Prepared:
        """A smaller request, within the limit that the provider named or within a guessed one.

        The refusal shows that the provider charges at least what was counted, and at least what the named limit
        implies. What it shows of the window is learnt when the smaller request is accepted.
        """
        counted = sent.report.counted
        named = overflow.limit if overflow.limit and overflow.limit >= SMALLEST else None
        implied = (named or 0) / counted
        ratio = max(1.0, sent.report.after / counted, min(implied, BELIEVED[1]))
        limit = named if named and implied <= ratio else int(counted * ratio * _SMALLER)
        announce.overflow(log, sent.report, limit)
        policy = self._policy_for(request)
        smaller = policy.with_window(min(limit, policy.window))
        try:
            return await self._prepare(request, tools, force=True, policy=smaller, ratio=ratio)
        except ContextBudgetExceeded:
            if limit == named:
                raise
            return sent  # nothing can be left out: the refusal may be an error

    def _policy_for(self, request: ModelRequest[Any]) -> ContextPolicy:
        """The policy for the model of this request, which other middleware may have replaced."""
        window = self.policy.window
        profile: Any = getattr(request.model, "profile", None)
        if profile:
            window = min(window, get_context_window(None, None, profile=profile))
        learnt = self._learnt.of(key_of(request.model))
        return self.policy.with_window(min(window, learnt.tokens) if learnt else window)

    def _parts(self, messages: Sequence[BaseMessage], ratio: float = 0.0) -> Parts:
        if len(self._short_forms) > _CACHED_TEXTS:
            self._short_forms.clear()
        return Parts(
            self.counter,
            self.summariser,
            calibrate(messages, self._provider).at_least(ratio),
            self._short_forms,
            self._ahead,
        )

    async def keep(self, scope: str, artifacts: Mapping[str, str]) -> bool:
        """Store texts. If the store fails, the texts are lost and the turn goes on."""
        try:
            await self._artifacts.put(scope, artifacts)
        except StorageError:
            log.exception("context.artifacts_lost", count=len(artifacts))
            return False
        return True

    @property
    def _summariser_name(self) -> str:
        use_model = self.summariser is not None and self.policy.use_model
        return self.summariser.name if use_model and self.summariser else "extractive"


def _state(request: ModelRequest[Any]) -> Mapping[str, Any]:
    return request.state


def _is_new(request: ModelRequest[Any], update: Mapping[str, Any]) -> bool:
    known = _state(request).get("compaction") or Compaction().as_state()
    return len(update) > 1 or bool(known != update["compaction"])
