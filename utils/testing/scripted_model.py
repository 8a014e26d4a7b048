"""A chat model that replays a script, for tests.

    model = ScriptedModel(script=[calls(call("search", query="x")), "Found it.", TimeoutError()])

Each request takes the next step of the script and is recorded in `model.requests`. A request past
the end is an error, as is a script that ends with steps unused when `assert_finished` is called.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field, PrivateAttr

from utils.events import Usage


@dataclass(frozen=True)
class ScriptedReply:
    """One answer of the script.

    Attributes:
        text: Text of the answer.
        tool_calls: Calls that the answer makes.
        usage: Tokens that the answer reports; none when absent.
        chunks: Pieces that the text is streamed in; joined they replace `text`.
        error: Raised instead of the answer, or after `text` and `chunks` when streaming.
        started: Set when the request arrives.
        gate: Waited for before the answer.
        chunk_gate: Waited for after the first streamed piece.
    """

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    usage: Usage | None = None
    chunks: Sequence[str] = ()
    error: BaseException | None = None
    started: asyncio.Event | None = None
    gate: asyncio.Event | None = None
    chunk_gate: asyncio.Event | None = None

    @property
    def pieces(self) -> Sequence[str]:
        """The text as it is streamed."""
        return self.chunks or ([self.text] if self.text else [])


@dataclass(frozen=True)
class ScriptedRequest:
    """One recorded request: messages, the bound tools in OpenAI's form, and other options."""

    messages: Sequence[BaseMessage]
    tools: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]


Step = str | AIMessage | BaseException | ScriptedReply
Script = Sequence[Step] | Callable[[Sequence[BaseMessage]], Step]


class ScriptExhaustedError(AssertionError):
    """There were more or fewer requests than the script has steps."""


def call(name: str, /, call_id: str | None = None, **arguments: Any) -> ToolCall:
    """A tool call; the id is made from the name when it does not matter."""
    return tool_call(name=name, args=arguments, id=call_id or f"call_{name}")


def calls(*tool_calls: ToolCall, text: str = "", usage: Usage | None = None) -> ScriptedReply:
    """A reply that makes tool calls."""
    return ScriptedReply(text=text, tool_calls=tool_calls, usage=usage)


class ScriptedModel(BaseChatModel):
    """Replays `script`: a list of steps in order, or a function of the messages.

    A list is consumed by requests in order, so two conversations can share a model only when their order
    is known; a function answers any number of conversations.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    script: Any = Field(repr=False)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _requests: list[ScriptedRequest] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def requests(self) -> list[ScriptedRequest]:
        """Every request so far, in order of arrival."""
        return self._requests

    def assert_finished(self) -> None:
        """Check that every step was used.

        Raises:
            ScriptExhaustedError: Steps are left.
        """
        if not callable(self.script) and len(self._requests) < len(self.script):
            left = len(self.script) - len(self._requests)
            raise ScriptExhaustedError(f"{left} of {len(self.script)} scripted steps were not used.")

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools; each request records them in OpenAI's form."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _next(self, messages: list[BaseMessage], options: Mapping[str, Any]) -> ScriptedReply:
        rest = {name: value for name, value in options.items() if name != "tools"}
        with self._lock:
            position = len(self._requests)
            self._requests.append(ScriptedRequest(tuple(messages), options.get("tools", ()), rest))
        if callable(self.script):
            return _as_reply(self.script(messages))
        if position >= len(self.script):
            raise ScriptExhaustedError(
                f"Request {position + 1} came, but the script has {len(self.script)} steps."
            )
        return _as_reply(self.script[position])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 -- part of the interface
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._next(messages, {**kwargs, "stop": stop} if stop else kwargs)
        _refuse_gates(reply)
        return _result(reply)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 -- part of the interface
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._next(messages, {**kwargs, "stop": stop} if stop else kwargs)
        await _announce_and_wait(reply)
        return _result(reply)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._next(messages, {**kwargs, "stop": stop} if stop else kwargs)
        _refuse_gates(reply)
        for chunk in _chunks(reply):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        reply = self._next(messages, {**kwargs, "stop": stop} if stop else kwargs)
        await _announce_and_wait(reply)
        for index, chunk in enumerate(_chunks(reply)):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
            if index == 0 and reply.chunk_gate is not None:
                await reply.chunk_gate.wait()

    @classmethod
    def of(cls, *steps: Step, **fields: Any) -> Self:
        """A model with these steps."""
        return cls(script=list(steps), **fields)


def _as_reply(step: Step) -> ScriptedReply:
    if isinstance(step, ScriptedReply):
        return step
    if isinstance(step, BaseException):
        return ScriptedReply(error=step)
    if isinstance(step, AIMessage):
        used = step.usage_metadata
        usage = Usage(used["input_tokens"], used["output_tokens"]) if used else None
        return ScriptedReply(text=str(step.text), tool_calls=step.tool_calls, usage=usage)
    return ScriptedReply(text=step)


async def _announce_and_wait(reply: ScriptedReply) -> None:
    if reply.started is not None:
        reply.started.set()
    if reply.gate is not None:
        await reply.gate.wait()


def _refuse_gates(reply: ScriptedReply) -> None:
    if reply.gate is not None or reply.chunk_gate is not None:
        raise TypeError("A gated reply needs an asynchronous call (ainvoke or astream).")


def _usage(reply: ScriptedReply) -> UsageMetadata | None:
    used = reply.usage
    if used is None:
        return None
    return UsageMetadata(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        total_tokens=used.input_tokens + used.output_tokens,
        input_token_details={"cache_read": used.cached_tokens},
    )


def _fresh(error: BaseException) -> BaseException:
    """The error without what was added where it was raised before: a script may repeat one, in several tasks at once."""
    again = type(error).__new__(type(error), *error.args)
    again.__dict__.update(error.__dict__)
    again.__dict__.pop("__notes__", None)
    again.__cause__ = error.__cause__
    return again


def _result(reply: ScriptedReply) -> ChatResult:
    if reply.error is not None:
        raise _fresh(reply.error)
    message = AIMessage(
        content="".join(reply.pieces), tool_calls=list(reply.tool_calls), usage_metadata=_usage(reply)
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunks(reply: ScriptedReply) -> Iterator[ChatGenerationChunk]:
    for piece in reply.pieces:
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    if reply.error is not None:
        raise _fresh(reply.error)
    for index, made in enumerate(reply.tool_calls):
        part = tool_call_chunk(name=made["name"], args=json.dumps(made["args"]), id=made["id"], index=index)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[part]))
    last = AIMessageChunk(content="", usage_metadata=_usage(reply), chunk_position="last")
    yield ChatGenerationChunk(message=last)
