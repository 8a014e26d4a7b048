"""The middleware stack that every agent has around its model and its tools, joined to as few pieces as can be.

LangChain decorates each hook of each middleware with LangSmith's `traceable`, which inspects its arguments and sets up a
tracing context, also when tracing is off. One composed middleware pays for that once. It is composed only when tracing is off,
so that a trace still has a span for each middleware.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.messages import ToolMessage
from langgraph.types import Command

if TYPE_CHECKING:
    from utils.a2a_common.graph.runtime import AgentRuntime
    from utils.a2a_common.graph.settings import AgentSettings
    from utils.context.middleware import ContextMiddleware
    from utils.context.topic import Embed
    from utils.persistence.tool_record import ToolRecord
    from utils.resilience.settings import BudgetSettings
    from utils.settings import LLMSettings, RecoverySettings

ModelHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
ToolHandler = Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]


@dataclass(frozen=True)
class MiddlewareStack:
    """The middleware of one agent; made once and kept when the agent's graph is rebuilt.

    Attributes:
        context: Makes every model request fit; remembers limits that it learnt and counts of messages.
        model_calls: Most model calls in one turn.
    """

    context: ContextMiddleware
    model_calls: int
    _around: tuple[AgentMiddleware[Any, Any], ...]
    _inside: tuple[AgentMiddleware[Any, Any], ...]

    def stack(self, own: Sequence[AgentMiddleware[Any, Any]]) -> list[AgentMiddleware[Any, Any]]:
        """All of it from the outside in, with the agent's own between: in as few pieces as the agent's own allow."""
        if not own:
            return composed((*self._around, *self._inside))
        first, *others = own
        if isinstance(first, ComposedMiddleware):
            return [*composed((*self._around, *first.parts)), *others, *composed(self._inside)]
        return [*composed(self._around), *own, *composed(self._inside)]


def middleware_stack(
    runtime: AgentRuntime, record: ToolRecord, summary_prompt: str | None = None
) -> MiddlewareStack:
    """The middleware that the agent's settings require; tool calls are recorded in `record`.

    `_around` and `_inside` describe each one; the agent's own middleware is between them. Context management is inside
    recovery so that each retry is prepared again; metrics and time limits are innermost so that each request is measured as
    it is sent.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    from utils.context.factory import default_context_middleware

    settings = runtime.settings
    managed = default_context_middleware(
        settings.llm,
        settings.context,
        runtime.model,
        runtime.stores.artifacts(),
        summary_prompt=summary_prompt,
        ahead=True,
        embed=_embed(runtime),
    )
    calls = settings.context.model_calls_per_turn
    return MiddlewareStack(managed, calls, _around(settings, record), _inside(settings, managed))


def _around(settings: AgentSettings, record: ToolRecord) -> tuple[AgentMiddleware[Any, Any], ...]:
    """The middleware around the agent's own, from the outside in."""
    from utils.a2a_common.graph.model.delegated_task import DelegatedTask
    from utils.a2a_common.graph.model.results_fallback import ResultsFallback
    from utils.a2a_common.graph.model.turn_limits import ModelCallLimit
    from utils.a2a_common.graph.questions.asked_by_the_model import ModelQuestions
    from utils.a2a_common.graph.questions.kept import KeptQuestions
    from utils.a2a_common.graph.tools.boundary import ToolBoundary
    from utils.resilience.loop_guard import LoopGuard

    return (
        # model: an answer that is a question ends the run; the user's reply continues it
        ModelQuestions(),
        # tool: its events, its time limit, its record, and its errors as results
        ToolBoundary(settings.recovery.tool_timeout_seconds, record),
        # tool: a question that its code caught as an error is still asked
        KeptQuestions(),
        # tool: a call with the same result three times is answered without a further call
        LoopGuard(),
        # model: a turn that has used up its model calls ends with the results so far
        ModelCallLimit(settings.context.model_calls_per_turn),
        # model: so does a turn whose task has used up its budget; shortly before, the model is asked for its last answer
        _budget_guard(settings.budget, settings.llm),
        # model: the delegating agent's account of the conversation, quoted after the user's newest message
        DelegatedTask(),
        # model: if all remedies failed, the results of the turn are the answer
        ResultsFallback(),
    )


def _inside(settings: AgentSettings, managed: ContextMiddleware) -> tuple[AgentMiddleware[Any, Any], ...]:
    """The middleware inside the agent's own, from the outside in."""
    from utils.a2a_common.graph.model.call import ModelCall
    from utils.a2a_common.graph.model.prompt_cache import PromptCache
    from utils.a2a_common.graph.model.unfilled_forms import UnfilledForms
    from utils.a2a_common.graph.tools.row_files import RowFiles
    from utils.resilience.loop_guard import LoopEnd
    from utils.resilience.recover import ModelRecovery

    llm, recovery = settings.llm, settings.recovery
    retrying = ModelRecovery(
        fallback=_fallback(llm, recovery),
        most_retries=llm.max_retries,
        most_seconds=recovery.model_wait_seconds,
        continues=llm.max_output_tokens is None,
    )
    return (
        # model: a turn ends with its results if the model repeats calls that were refused
        LoopEnd(),
        # model: a failed call is repeated, finally with the fallback model; an answer that was cut off is continued
        retrying,
        # model: a view that fits the window replaces the conversation; tool: a large result is shortened
        managed,
        # model: tools are called by structured output, if LLM_TOOL_CALLS is set to it
        *structured_calls(settings),
        # model: the part for the provider's cache is marked
        PromptCache(),
        # model: one request to the provider's client, measured and with a time limit
        ModelCall(llm.timeout_seconds, llm.stream_timeout_seconds),
        # model: an answer that does not fill the agent's form is an answer, for the recovery to judge
        UnfilledForms(),
        # tool: the rows of a result are offered as a file
        RowFiles(),
    )


def _embed(runtime: AgentRuntime) -> Embed | None:
    from utils.embeddings.cache import unstored

    embedder = unstored(runtime.embedder)
    return embedder.embed if embedder is not None else None


def structured_calls(settings: AgentSettings) -> tuple[AgentMiddleware[Any, Any], ...]:
    """The middleware that lets a model call tools by structured output, if LLM_TOOL_CALLS is set to it.

    Raises:
        SettingsError: The provider does not do that.
    """
    from utils.errors import SettingsError
    from utils.llm.settings import ToolCalls
    from utils.settings import ModelProvider

    if settings.tool_calls.calls is ToolCalls.NATIVE:
        return ()
    if settings.llm.provider is not ModelProvider.OPENAI_COMPATIBLE:
        raise SettingsError(
            "LLM_TOOL_CALLS",
            "LLM_TOOL_CALLS=json needs LLM_PROVIDER=openai-compatible: models of the other providers call tools by themselves.",
        )
    from utils.a2a_common.graph.model.structured_calls import StructuredCalls

    return (StructuredCalls(),)


def _budget_guard(settings: BudgetSettings, llm: LLMSettings) -> AgentMiddleware[Any, Any]:
    from utils.a2a_common.graph.model.turn_limits import BudgetGuard
    from utils.llm.prices import PRICES, parse_prices
    from utils.resilience.budget import Budget

    budget = Budget(settings.tokens, settings.cost_usd, settings.steps, settings.seconds)
    return BudgetGuard(budget, {**PRICES, **parse_prices(settings.prices)}, llm.model or "")


def _fallback(llm: LLMSettings, recovery: RecoverySettings) -> Any:
    from utils.llm.factory import create_chat_model, fallback_of

    settings = fallback_of(llm, recovery)
    return create_chat_model(settings) if settings else None


def composed(parts: Sequence[AgentMiddleware[Any, Any]]) -> list[AgentMiddleware[Any, Any]]:
    """The parts as one middleware; the parts themselves when LangSmith's tracing is on."""
    from langsmith.utils import tracing_is_enabled

    return list(parts) if tracing_is_enabled() else [ComposedMiddleware(parts)]


class ComposedMiddleware(AgentMiddleware[Any, Any]):
    """Calls its parts from the outside in.

    Args:
        parts: Each wraps model calls, tool calls or both, asynchronously, and has no hook of another kind. At most one has a
            state schema of its own, and at most one answers a model call with a command.

    Attributes:
        parts: The same, to be composed with others.
    """

    def __init__(self, parts: Sequence[AgentMiddleware[Any, Any]]) -> None:
        super().__init__()
        self.parts = tuple(parts)
        base = AgentMiddleware
        self.tools = [tool for part in parts for tool in getattr(part, "tools", ())]
        plain = self.state_schema
        (self.state_schema,) = {part.state_schema for part in parts} - {plain} or {plain}
        self._name = " ".join(part.name for part in parts)
        self._around_model = [
            part for part in parts if type(part).awrap_model_call is not base.awrap_model_call
        ]
        self._around_tools = [
            part for part in parts if type(part).awrap_tool_call is not base.awrap_tool_call
        ]

    @property
    def name(self) -> str:
        """The names of the parts; unique in an agent as each of them is."""
        return self._name

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: ModelHandler
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Call the model through every part; the command of the last attempt goes with the answer."""
        commands: list[Command[Any]] = []
        for part in reversed(self._around_model):
            handler = _around_model(part, handler, commands)
        response = await handler(request)
        return ExtendedModelResponse(response, *commands) if commands else response

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: ToolHandler
    ) -> ToolMessage | Command[Any]:
        """Call the tool through every part."""
        for part in reversed(self._around_tools):
            handler = _around_tool(part, handler)
        return await handler(request)


def _around_model(
    part: AgentMiddleware[Any, Any], inner: ModelHandler, commands: list[Command[Any]]
) -> ModelHandler:
    async def call(request: ModelRequest[Any]) -> ModelResponse[Any]:
        answered: Any = await part.awrap_model_call(request, inner)
        if not isinstance(answered, ExtendedModelResponse):
            return answered if isinstance(answered, ModelResponse) else ModelResponse([answered])
        commands[:] = [answered.command] if answered.command is not None else []
        return answered.model_response

    return call


def _around_tool(part: AgentMiddleware[Any, Any], inner: ToolHandler) -> ToolHandler:
    async def call(request: ToolCallRequest) -> ToolMessage | Command[Any]:
        return await part.awrap_tool_call(request, inner)

    return call
