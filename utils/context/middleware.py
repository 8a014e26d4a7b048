"""LangChain middleware that runs the context pipeline before every model request.

It reads the graph's state, stores texts in the artifact store, reports compactions as events and log
lines, and writes the pipeline's decisions to the state key `compaction`. The messages in the state are
never changed; the model sees a view of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NotRequired

import structlog
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.context import announce
from utils.context.compaction import Compaction
from utils.context.constraints import Constraint
from utils.context.limits import get_context_window
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import ContextPolicy
from utils.context.protocols import ArtifactStore, Summariser
from utils.context.rendering import full_text
from utils.context.strategies.truncate import shown_of
from utils.context.summary_usage import summary_usage
from utils.context.tool_tokens import ToolTokens
from utils.context.tools import TOOL_NAMES, context_tools, scope_of
from utils.errors import ContextBudgetExceeded, ContextOverflow, StorageError
from utils.events import ContextCompacted, UsageReported
from utils.llm.classify import classify
from utils.messages.counter import BELIEVED, MessageCounter, calibrate, with_count
from utils.messages.handles import handle_of, with_full_output
from utils.messages.transcript import tool_names
from utils.observability import catalogue
from utils.observability.metrics import count

log = structlog.get_logger(__name__)

Announce = Callable[[ContextCompacted], None]

COMPACT_NOW = "compact_now"
"""Key in a request's state, never stored, that forces a compaction."""

_CACHED_TEXTS = 512
_SMALLER = 0.7
_MOST_REFUSALS = 4  # by then a guessed limit is a quarter of the first request
_PLAUSIBLE = 0.5

SUMMARIES = "summaries"
"""Name under which the usage of summaries is reported."""


class ContextState(AgentState[Any]):
    """The keys of context management in the graph's state. They are stored and must not change.

    They are no private state of LangChain's, so that they pass between an agent's own graph and its subgraph.

    Attributes:
        compaction: `Compaction.as_state`.
        pinned: Constraints that a model found in the user's messages, each with the id of its message.
    """

    compaction: NotRequired[dict[str, Any]]
    pinned: NotRequired[list[list[str]]]


class ContextMiddleware(AgentMiddleware[ContextState, Any]):
    """Makes every model request fit the model's window.

    Args:
        policy: Thresholds, with the model's window if that is known.
        artifacts: Stores texts that are left out.
        counter: Counts tokens.
        summariser: Writes summaries; if it is unset or fails, an extract is made instead.
        provider: `LLM_PROVIDER`, for the ratio of charged to counted tokens before it is measured.
        on_compaction: Called for each compaction; if unset, events go to the graph's stream.
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
        on_compaction: Announce | None = None,
    ) -> None:
        super().__init__()
        self.policy = policy
        self.counter = counter or MessageCounter()
        self.tools: Sequence[BaseTool] = context_tools(artifacts)
        self._artifacts = artifacts
        self._summariser = summariser
        self._provider = provider
        self._on_compaction = on_compaction
        self._short_forms: dict[str, str] = {}
        self._tool_tokens = ToolTokens(self.counter)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """Send a request that fits. If the provider refuses it as too long, send smaller ones."""
        tools = list(request.tools)
        prepared = await self._prepare(request, tools, force=bool(_state(request).get(COMPACT_NOW)))
        refused: set[int] = set()
        while True:
            shown = self._shown(tools, prepared)
            try:
                response = await handler(_sent(request, prepared, shown))
                break
            except Exception as error:
                overflow = classify(error)
                if not isinstance(overflow, ContextOverflow) or len(refused) == _MOST_REFUSALS:
                    raise
                if prepared.report.counted in refused:
                    raise  # it cannot be made smaller, and was refused twice
                refused.add(prepared.report.counted)
                prepared = await self._shrink(request, tools, prepared, overflow)
        unsent = self._tool_tokens.of_known(tools) - self._tool_tokens.of_known(shown)
        counted = prepared.report.counted - unsent
        answered = ModelResponse(
            [_counted(message, counted) for message in response.result], response.structured_response
        )
        update = {"compaction": prepared.compaction.as_state()}
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
        text = full_text(result)
        shown = shown_of(result, self.policy, self.counter)
        if shown == text:
            return result
        if not await self._keep(scope_of(request.runtime.config), {handle_of(text): text}):
            return result
        log.info("context.truncated", tool=request.tool_call["name"], characters=len(text), shown=len(shown))
        return with_full_output(result, shown, handle_of(text))  # type: ignore[return-value]

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
        tokens = await self._tool_tokens.of(tools)
        request = Request(history, system, tokens, turn_start=True, pinned=_pinned(values))
        before = Compaction.from_state(values.get("compaction"))
        prepared = await prepare(request, self.policy, self._parts(history), before)
        if prepared.compaction == before:
            return None
        await self._keep(scope, prepared.artifacts)
        announce.preflight(log, prepared.report, self._summariser_name)
        if write is not None:
            for event in prepared.report.events(prepared.messages[0].id):
                write(event)
        return {"compaction": prepared.compaction.as_state()}

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
        unprepared = Request(
            request.messages,
            request.system_message,
            await self._tool_tokens.of(tools),
            pinned=_pinned(state),
            force=force,
        )
        with summary_usage() as used:
            prepared = await prepare(
                unprepared,
                policy or self._policy_for(request),
                self._parts(request.messages, ratio),
                Compaction.from_state(state.get("compaction")),
            )
        if used.total:
            request.runtime.stream_writer(UsageReported({SUMMARIES: used.total}))
        await self._keep(scope, prepared.artifacts)
        announced = announce.preflight if prepared.report.before > prepared.report.limit else announce.request
        announced(log, prepared.report, self._summariser_name)
        count(catalogue.REPAIRS, len(prepared.report.interrupted), where="request")
        write = self._on_compaction or request.runtime.stream_writer
        for event in prepared.report.events(prepared.messages[0].id):
            write(event)
        request.runtime.stream_writer(prepared.report.measured)
        return prepared

    async def _shrink(
        self, request: ModelRequest[Any], tools: Sequence[Any], sent: Prepared, overflow: ContextOverflow
    ) -> Prepared:
        """A smaller request, within the limit that the provider named or within a guessed one.

        The refusal shows that the provider charges at least what was counted, and at least what the named limit
        implies. A named limit applies to later requests too, and so does a guess after the refusal of a
        large request. The refusal of a small one may be an error and must not shrink the agent's window.
        """
        counted, named = sent.report.counted, overflow.limit
        implied = (named or 0) / counted
        ratio = max(1.0, sent.report.after / counted, min(implied, BELIEVED[1]))
        limit = named if named and implied <= ratio else int(counted * ratio * _SMALLER)
        announce.overflow(log, sent.report, limit)
        policy = self._policy_for(request)
        smaller = policy.with_window(min(limit, policy.window))
        if named or sent.report.after >= policy.window * _PLAUSIBLE:
            self.policy = policy.with_window(min(named or limit, policy.window))
        try:
            return await self._prepare(request, tools, force=True, policy=smaller, ratio=ratio)
        except ContextBudgetExceeded:
            if limit == named:
                raise
            return sent  # nothing can be left out: the refusal may be an error

    def _policy_for(self, request: ModelRequest[Any]) -> ContextPolicy:
        """The policy for the model of this request, which other middleware may have replaced."""
        profile: Any = getattr(request.model, "profile", None)
        if not profile:
            return self.policy
        known = get_context_window(None, None, profile=profile)
        return self.policy.with_window(min(self.policy.window, known))

    def _parts(self, messages: Sequence[BaseMessage], ratio: float = 0.0) -> Parts:
        if len(self._short_forms) > _CACHED_TEXTS:
            self._short_forms.clear()
        return Parts(
            self.counter,
            self._summariser,
            calibrate(messages, self._provider).at_least(ratio),
            self._short_forms,
        )

    def _shown(self, tools: Sequence[Any], prepared: Prepared) -> list[Any]:
        """The tools to send; this middleware's own only if there is something to read, or a visible call of them."""
        used = TOOL_NAMES & set(tool_names(prepared.messages))
        if prepared.handles or prepared.compaction.through or used:
            return list(tools)
        return [tool for tool in tools if getattr(tool, "name", "") not in TOOL_NAMES]

    async def _keep(self, scope: str, artifacts: Mapping[str, str]) -> bool:
        """Store texts. If the store fails, the texts are lost and the turn goes on."""
        try:
            await self._artifacts.put(scope, artifacts)
        except StorageError:
            log.exception("context.artifacts_lost", count=len(artifacts))
            return False
        return True

    @property
    def _summariser_name(self) -> str:
        use_model = self._summariser is not None and self.policy.use_model
        return self._summariser.name if use_model and self._summariser else "extractive"


def _sent(request: ModelRequest[Any], prepared: Prepared, tools: list[Any]) -> ModelRequest[Any]:
    messages: list[Any] = list(prepared.messages)
    return request.override(system_message=prepared.system, messages=messages, tools=tools)


def _counted(message: BaseMessage, counted: int) -> BaseMessage:
    return with_count(message, counted) if isinstance(message, AIMessage) else message


def _state(request: ModelRequest[Any]) -> Mapping[str, Any]:
    return request.state


def _is_new(request: ModelRequest[Any], update: Mapping[str, Any]) -> bool:
    state: Mapping[str, Any] = request.state
    known = state.get("compaction") or Compaction().as_state()
    return bool(known != update["compaction"])


def _pinned(state: Mapping[str, Any]) -> tuple[Constraint, ...]:
    return tuple(Constraint(text, message_id) for text, message_id in state.get("pinned") or ())
