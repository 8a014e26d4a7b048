"""Retries failed model calls, for every agent.

It wraps the context middleware, so each try prepares its request again. `utils.llm.classify` and `answer.py` give a
failure its type, `retry_plan.py` decides what to do about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from utils.context.middleware import COMPACT_NOW
from utils.errors import AnswerRepeated, ModelFailure
from utils.events import ModelRetried, TextRestarted
from utils.llm.classify import classify
from utils.llm.reply.answer import cut_text, read_answer
from utils.llm.reply.continuation import CONTINUE, joined
from utils.llm.reply.finish import Ending
from utils.llm.reply.form import UNFILLED, FormUnfilled, plain_form, read_form
from utils.llm.reply.watch import watched_reply
from utils.messages.question import asks_user
from utils.resilience.retry_plan import Retry, RetryPlan
from utils.timing import Deadline

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]
Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class ModelRecovery(AgentMiddleware[Any, Any]):
    """Retries a failed model call when that can help, and reports each retry as an event.

    Args:
        fallback: The model to use when the agent's own is down.
        most_retries: Most retries of one model call.
        most_seconds: Longest wait for a busy provider, for one model call.
        continues: Whether an answer that the model's server cut off is continued, once.
        sleep: Replaces `asyncio.sleep`.
    """

    def __init__(
        self,
        *,
        fallback: BaseChatModel | None = None,
        most_retries: int = 3,
        most_seconds: float = 60.0,
        continues: bool = False,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__()
        self._fallback = fallback
        self._most_retries = most_retries
        self._most_seconds = most_seconds
        self._continues = continues
        self._sleep = sleep

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Handler,
    ) -> Any:
        """Call the model, with as many tries as the plan allows.

        Raises:
            ModelFailure: No try helped.
        """
        plan = RetryPlan(
            has_fallback=self._fallback is not None,
            most_retries=self._most_retries,
            most_seconds=self._most_seconds,
            deadline=Deadline(getattr(request.runtime.context, "deadline", None)),
        )
        while True:
            try:
                response = await _answered(request, handler)
                break
            except Exception as error:
                failure = classify(error)
                if failure is None:
                    raise
                request = await self._next(request, plan, failure)
        return await self._continued(request, handler, response) if self._continues else response

    async def _continued(self, request: ModelRequest[Any], handler: Handler, response: Any) -> Any:
        """The response, with the rest of an answer that was cut off; the model is asked once for it."""
        cut = _only_answer(response)
        begun = cut_text(cut) if cut is not None else None
        if cut is None or begun is None:
            return response
        log.info("model.answer_continued", characters=len(begun))
        asked = [*request.messages, AIMessage(begun), HumanMessage(CONTINUE)]
        try:
            rest = _only_answer(await _answered(request.override(messages=asked), handler))
        except Exception as error:
            if classify(error) is None:
                raise
            return response
        return (
            response if rest is None or rest.tool_calls else _with_answer(response, joined(begun, cut, rest))
        )

    async def _next(
        self, request: ModelRequest[Any], plan: RetryPlan, failure: ModelFailure
    ) -> ModelRequest[Any]:
        """Wait, and return the request of the next try."""
        retry = plan.after(failure)
        if retry is None:
            if request.response_format is not None:  # a part of a form is no answer
                request.runtime.stream_writer(TextRestarted())
            raise failure
        log.warning(
            "model.retry",
            code=failure.code,
            attempt=plan.attempts,
            seconds=round(retry.seconds, 1),
            fallback=retry.fallback,
            cause=type(failure.__cause__ or failure).__name__,
        )
        request.runtime.stream_writer(
            ModelRetried(failure.code, plan.attempts, retry.seconds, fallback=retry.fallback)
        )
        if retry.seconds:
            await self._sleep(retry.seconds)
        return self._changed(request, retry)

    def _changed(self, request: ModelRequest[Any], retry: Retry) -> ModelRequest[Any]:
        if retry.fallback and self._fallback is not None:
            request = request.override(model=self._fallback)
        if retry.compact:
            state: Any = {**request.state, COMPACT_NOW: True}
            request = request.override(state=state)
        if retry.notice:
            prompt = request.system_prompt
            system = f"{prompt}\n\n{retry.notice}" if prompt else retry.notice
            request = request.override(system_message=SystemMessage(system))
        return request


async def _answered(request: ModelRequest[Any], handler: Handler) -> Any:
    """The response to one request, its answer validated.

    Raises:
        ModelFailure: The answer cannot be used.
    """
    tools = _names(request.tools)
    with watched_reply() as watch:
        try:
            response = await handler(request)
        except AnswerRepeated as stopped:
            if not stopped.text.strip():
                raise
            answer = AIMessage(stopped.text, response_metadata={"finish_reason": Ending.REPEATED.value})
            return _filled(ModelResponse(result=[read_answer(answer, tools)]), request.response_format)
    return _filled(_read(response, tools, broken=watch.broken), request.response_format)


def _only_answer(response: Any) -> AIMessage | None:
    """The message of a response that is a single answer."""
    if isinstance(response, ExtendedModelResponse):
        return _only_answer(response.model_response)
    messages = response.result if isinstance(response, ModelResponse) else [response]
    return messages[0] if len(messages) == 1 and isinstance(messages[0], AIMessage) else None


def _with_answer(response: Any, answer: AIMessage) -> Any:
    if isinstance(response, ExtendedModelResponse):
        return replace(response, model_response=_with_answer(response.model_response, answer))
    return replace(response, result=[answer]) if isinstance(response, ModelResponse) else answer


def _read(response: Any, tools: Collection[str], *, broken: Sequence[str]) -> Any:
    """The response with its answer validated.

    Raises:
        ModelFailure: The answer cannot be used.
    """
    if isinstance(response, ExtendedModelResponse):
        return replace(response, model_response=_read(response.model_response, tools, broken=broken))
    if isinstance(response, ModelResponse):
        return replace(response, result=[_read(each, tools, broken=broken) for each in response.result])
    return read_answer(response, tools, broken=broken) if isinstance(response, AIMessage) else response


def _filled(response: Any, form: Any) -> Any:
    """The response with what its answer fills the form with, where answers have one; calls and questions fill none.

    Raises:
        ModelFailure: The answer does not fill it.
    """
    if form is None or not isinstance(response, ModelResponse | ExtendedModelResponse):
        return response
    if isinstance(response, ExtendedModelResponse):
        return replace(response, model_response=_filled(response.model_response, form))
    answer = _only_answer(response)
    if answer is None:  # the form was called as a tool
        if response.structured_response is None:
            raise FormUnfilled(UNFILLED)
        return replace(response, structured_response=plain_form(response.structured_response))
    if answer.tool_calls or asks_user(answer):
        return response
    return replace(response, structured_response=plain_form(read_form(answer, form)))


def _names(tools: Sequence[Any]) -> set[str]:
    """Names of the tools of a request, which are tools or schemas."""
    return {
        str(tool.get("name") or tool.get("function", {}).get("name")) if isinstance(tool, dict) else tool.name
        for tool in tools
    }
