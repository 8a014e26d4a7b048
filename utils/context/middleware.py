"""Runs the context pipeline before every model request: the shell around the pure functions.

It reads the graph's state, keeps texts in the artifact store, tells what it did as events and log
lines, and writes the pipeline's decisions back to the state key `compaction`. The conversation's
messages are never changed; what the model sees is a view.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired

import structlog
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.context import announce
from utils.context.compaction import Compaction
from utils.context.limits import get_context_window
from utils.context.memory import Memories
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import ContextPolicy
from utils.context.protocols import ArtifactStore, Summariser
from utils.context.registry import Pin
from utils.context.rendering import full_text
from utils.context.spent import metered
from utils.context.strategies.truncate import shown_of
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
"""Key in a request's state, never stored, that asks for a smaller request whatever its size."""

_CACHED_TEXTS = 512
_SMALLER = 0.7
_MOST_REFUSALS = 4  # after which a guess has come down to a quarter of the first request
_PLAUSIBLE = 0.5
_REMEMBERED_TOOLS = 512
_LARGE = 200_000  # characters, which take some 20 ms to count

SUMMARIES = "summaries"
"""Under this name the usage of summaries is reported."""


class ContextState(AgentState[Any]):
    """What context management keeps in the graph's state.

    Attributes:
        compaction: Decisions about the view (`Compaction.as_state`).
        pinned: Constraints that a model found in the user's messages, each with the id of its message.
    """

    compaction: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    pinned: NotRequired[Annotated[list[list[str]], PrivateStateAttr]]


class ContextMiddleware(AgentMiddleware[ContextState, Any]):
    """Makes every model request fit, whatever the conversation has become.

    Args:
        policy: Thresholds; its window is the model's, where that is known.
        artifacts: Keeps what is left out.
        counter: Counts tokens.
        summariser: Writes summaries; extracts are made where it is unset or fails.
        provider: `LLM_PROVIDER`, for the first guess of what the provider charges.
        on_compaction: Told of each compaction; the graph's stream is told where it is unset.
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
        self._memories = Memories()
        self._tool_costs: dict[int, tuple[Any, int]] = {}
        self._ready = False

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        """Send a request that fits; where the provider still finds it too long, again with less, and less."""
        tools = self._offered(request)
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
                if (
                    prepared.report.counted in refused
                ):  # it cannot be made smaller, and was sent a second time
                    raise
                refused.add(prepared.report.counted)
                prepared = await self._shrink(request, tools, prepared, overflow)
        counted = prepared.report.counted - self._tool_tokens(tools) + self._tool_tokens(shown)
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
        """Cut an oversized result before it enters the conversation; the whole goes to the store."""
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
        """Check a turn before it begins: the state update that makes it fit, `None` where it does already.

        Args:
            values: The graph's state.
            messages: What the turn adds: the user's message.
            system: The agent's system message.
            tools: The agent's tools.
            scope: The conversation's thread id.
            write: Told of each compaction.
        """
        talk = [*values.get("messages", ()), *messages]
        request = Request(talk, system, self._tool_tokens(tools), turn_start=True, pinned=_pinned(values))
        before = Compaction.from_state(values.get("compaction"))
        await self._count_ahead(talk, scope)
        prepared = await prepare(request, self.policy, self._parts(talk, scope), before)
        if prepared.compaction == before:
            return None
        await self._keep(scope, prepared.artifacts)
        announce.preflight(log, prepared.report, self._summariser_name)
        if write is not None:
            for event in prepared.report.events(prepared.messages[0].id):
                write(event)
        return {"compaction": prepared.compaction.as_state()}

    async def forget(self, scope: str) -> None:
        """Delete the texts that were left out of a conversation's requests.

        Raises:
            StorageError: They cannot be deleted.
        """
        self._memories.forget(scope)
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
        meant = Request(
            request.messages,
            request.system_message,
            self._tool_tokens(tools),
            pinned=_pinned(state),
            force=force,
        )
        await self._count_ahead(request.messages, scope)
        with metered() as meter:
            prepared = await prepare(
                meant,
                policy or self._policy_for(request),
                self._parts(request.messages, scope, ratio),
                Compaction.from_state(state.get("compaction")),
            )
        if meter.usage:
            request.runtime.stream_writer(UsageReported({SUMMARIES: meter.usage}))
        await self._keep(scope, prepared.artifacts)
        tell = announce.preflight if prepared.report.before > prepared.report.limit else announce.request
        tell(log, prepared.report, self._summariser_name)
        count(catalogue.REPAIRS, len(prepared.report.interrupted), where="request")
        write = self._on_compaction or request.runtime.stream_writer
        for event in prepared.report.events(prepared.messages[0].id):
            write(event)
        request.runtime.stream_writer(prepared.report.measured)
        return prepared

    async def _shrink(
        self, request: ModelRequest[Any], tools: Sequence[Any], sent: Prepared, overflow: ContextOverflow
    ) -> Prepared:
        """The request again, smaller: for the limit that the provider told, or for a guess.

        Either way the provider charges more than was thought: at least what was counted, and what the limit shows.
        What the provider told is learnt for later requests, and so is a guess about a request that was
        large; a refusal of a small one may be a mistake and must not cost the agent its window.
        """
        counted, told = sent.report.counted, overflow.limit
        shows = (told or 0) / counted
        ratio = max(1.0, sent.report.after / counted, min(shows, BELIEVED[1]))
        limit = told if told and shows <= ratio else int(counted * ratio * _SMALLER)
        announce.overflow(log, sent.report, limit)
        policy = self._policy_for(request)
        smaller = policy.with_window(min(limit, policy.window))
        if told or sent.report.after >= policy.window * _PLAUSIBLE:
            self.policy = policy.with_window(min(told or limit, policy.window))
        try:
            return await self._prepare(request, tools, force=True, policy=smaller, ratio=ratio)
        except ContextBudgetExceeded:
            if limit == told:
                raise
            return sent  # there is nothing to leave out: the refusal may be a mistake

    def _policy_for(self, request: ModelRequest[Any]) -> ContextPolicy:
        """The policy for the model of this request, which other middleware may have exchanged."""
        profile: Any = getattr(request.model, "profile", None)
        if not profile:
            return self.policy
        known = get_context_window(None, None, profile=profile)
        return self.policy.with_window(min(self.policy.window, known))

    def _parts(self, messages: Sequence[BaseMessage], scope: str, ratio: float = 0.0) -> Parts:
        if len(self._short_forms) > _CACHED_TEXTS:
            self._short_forms.clear()
        return Parts(
            self.counter,
            self._summariser,
            calibrate(messages, self._provider).at_least(ratio),
            self._short_forms,
            self._memories.of(scope),
        )

    def _offered(self, request: ModelRequest[Any]) -> list[Any]:
        """All tools of the request; ours are counted whether they will be shown or not."""
        return list(request.tools)

    def _shown(self, tools: Sequence[Any], prepared: Prepared) -> list[Any]:
        """The tools to send: ours only where there is something to read, or they were called in view."""
        used = TOOL_NAMES & set(tool_names(prepared.messages))
        if prepared.handles or prepared.compaction.through or used:
            return list(tools)
        return [tool for tool in tools if getattr(tool, "name", "") not in TOOL_NAMES]

    def _tool_tokens(self, tools: Sequence[Any]) -> int:
        return sum(map(self._tool_cost, tools))

    def _tool_cost(self, tool: Any) -> int:
        """Tokens of one tool's schema, remembered for as long as this is the same object."""
        known = self._tool_costs.get(id(tool))
        if known is None or known[0] is not tool:
            if len(self._tool_costs) >= _REMEMBERED_TOOLS:
                self._tool_costs.clear()
            known = self._tool_costs[id(tool)] = (tool, self.counter.tools([convert_to_openai_tool(tool)]))
        return known[1]

    async def _count_ahead(self, messages: Sequence[BaseMessage], scope: str) -> None:
        """Count what is large and new in a thread, so that the pipeline finds its counts ready."""
        new = list(messages[self._memories.of(scope).count :])
        if not self._ready or sum(len(str(message.content)) for message in new) > _LARGE:
            await asyncio.to_thread(self.counter.messages, new)
            self._ready = True

    async def _keep(self, scope: str, artifacts: Mapping[str, str]) -> bool:
        """Keep texts; a store that fails costs the texts, not the turn."""
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


def _pinned(state: Mapping[str, Any]) -> tuple[Pin, ...]:
    return tuple(Pin(text, message_id) for text, message_id in state.get("pinned") or ())
