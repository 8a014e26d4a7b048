"""Streams as certain servers send them: what each adds to, or leaves out of, OpenAI's Chat Completions API.

`stream(Server.OLLAMA, said("Hel"), said("lo"))` is a `Wire` for a brain to return.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from utils.testing.strict import anthropic_wire, gemini_wire
from utils.testing.strict.conversation import Wire
from utils.testing.strict.eventstream import event


class Server(StrEnum):
    """The servers whose habits the double knows: Gemini and Anthropic by their own APIs and OpenAI-compatible endpoints."""

    OPENAI = "openai"
    AZURE = "azure"
    BEDROCK = "bedrock"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    OLLAMA = "ollama"
    LLAMA_CPP = "llama.cpp"
    VLLM = "vllm"
    OPENROUTER = "openrouter"
    MISTRAL = "mistral"
    LM_STUDIO = "lm-studio"
    LITELLM = "litellm"
    CLAUDE = "claude"
    GEMINI_API = "gemini-api"
    VERTEX = "vertex"

    @property
    def provider(self) -> str:
        """The `LLM_PROVIDER` that is used for it."""
        own = {
            self.OPENAI: "openai",
            self.AZURE: "azure-openai",
            self.BEDROCK: "aws-bedrock",
            self.CLAUDE: "anthropic",
            self.GEMINI_API: "google-gemini",
            self.VERTEX: "gcp-vertexai",
        }
        return own.get(self, "openai-compatible")

    @property
    def speaks_openai(self) -> bool:
        """Whether it has OpenAI's Chat Completions API."""
        return self.provider not in {"aws-bedrock", "anthropic", "google-gemini", "gcp-vertexai"}


Delta = Mapping[str, Any]
STOP = "stop"
USAGE: Delta = {"prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129}


def said(text: str) -> Delta:
    """A piece of the answer."""
    return {"content": text}


def thought(text: str, field: str = "reasoning_content") -> Delta:
    """A piece of the reasoning, in the field that a server uses for it."""
    return {"content": None, field: text}


def called(
    name: str,
    arguments: str | Mapping[str, Any] | None,
    *,
    index: int | None = 0,
    id_: str | None = "call_1",
    encoded: bool = True,
) -> Delta:
    """A complete tool call. Arguments that are a string are sent unchanged; index and ID are left out if `None`.

    Args:
        name: Name of the tool.
        arguments: Its arguments.
        index: Position of the call.
        id_: Id of the call.
        encoded: Whether arguments are sent as JSON in a string, as they should be.
    """
    sent = json.dumps(arguments) if encoded and not isinstance(arguments, str) else arguments
    call: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": sent}}
    if index is not None:
        call["index"] = index
    if id_ is not None:
        call["id"] = id_
    return {"tool_calls": [call]}


def pieces(text: str, size: int = 5) -> list[Delta]:
    """A text in pieces as small as tokens."""
    return [said(text[at : at + size]) for at in range(0, len(text), size)]


def stream(
    server: Server,
    *deltas: Delta,
    reason: str | None = STOP,
    usage: Delta | None = USAGE,
    usage_in_each: bool = False,
    done: bool = True,
    open_end: bool = False,
) -> Wire:
    """A streamed answer, framed as the server frames it.

    Args:
        server: Whose habits.
        deltas: What the answer consists of; for Bedrock see `converse`.
        reason: Finish reason; none when `None`.
        usage: Tokens in the last chunk; none when `None`.
        usage_in_each: Whether every chunk has the usage so far.
        done: Whether `[DONE]` ends the stream.
        open_end: Whether the connection then stays open.
    """
    lines = [*_preface(server), *_chunks(server, deltas, usage if usage_in_each else None)]
    if reason is not None:
        native = {"native_finish_reason": reason} if server is Server.OPENROUTER else {}
        lines.append(_line(server, [{"index": 0, "delta": {}, "finish_reason": reason, **native}]))
    if usage is not None and not usage_in_each:
        lines.append(_line(server, [], usage=usage))
    if done:
        lines.append(b"data: [DONE]\n\n")
    return Wire(lines, open_end=open_end)


def error_line(error: Mapping[str, Any], **beside: Any) -> bytes:
    """An error in the middle of a stream."""
    return b"data: " + json.dumps({"error": error, **beside}).encode() + b"\n\n"


def refusal(body: object, status: int, **headers: str) -> Wire:
    """A refusal with any body: JSON, or unchanged text."""
    text = body if isinstance(body, str) else json.dumps(body)
    kind = (
        "text/html" if text.startswith("<") else "text/plain" if isinstance(body, str) else "application/json"
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Wire([text.encode()], status, kind, named)


def converse(*blocks: Sequence[Mapping[str, Any]], reason: str = "end_turn") -> Wire:
    """A ConverseStream answer of Bedrock: each block a list of deltas, or of a `start` and deltas."""
    frames = [event("messageStart", {"role": "assistant"})]
    for index, block in enumerate(blocks):
        for each in block:
            name = "contentBlockStart" if "start" in each else "contentBlockDelta"
            body = each if "start" in each else {"delta": each}
            frames.append(event(name, {**body, "contentBlockIndex": index}))
        frames.append(event("contentBlockStop", {"contentBlockIndex": index}))
    usage = {"usage": {"inputTokens": 9, "outputTokens": 9, "totalTokens": 18}, "metrics": {"latencyMs": 1}}
    return Wire([b"".join(frames), event("messageStop", {"stopReason": reason}), event("metadata", usage)])


def messages(
    *blocks: Sequence[Mapping[str, Any]], reason: str = "end_turn", usage: Mapping[str, Any] | None = None
) -> Wire:
    """A stream of Anthropic's Messages API: each block begins with its `content_block`, its deltas follow."""
    reported = {"input_tokens": 120, "output_tokens": 9} if usage is None else usage
    head: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": reported,
    }
    frames = [anthropic_wire.event("message_start", message=head)]
    for index, (start, *deltas) in enumerate(blocks):
        frames.append(anthropic_wire.event("content_block_start", index=index, content_block=start))
        frames += [anthropic_wire.event("content_block_delta", index=index, delta=each) for each in deltas]
        frames.append(anthropic_wire.event("content_block_stop", index=index))
    frames.append(anthropic_wire.event("message_delta", delta={"stop_reason": reason}, usage=reported))
    return Wire([*frames, anthropic_wire.event("message_stop")])


def generated(
    *chunks: Sequence[Mapping[str, Any]], reason: str | None = "STOP", usage: Mapping[str, Any] | None = None
) -> Wire:
    """A stream of Gemini's generateContent: each chunk is its parts."""
    reported = (
        {"promptTokenCount": 120, "candidatesTokenCount": 9, "totalTokenCount": 129}
        if usage is None
        else usage
    )
    last = len(chunks) - 1
    made = [
        gemini_wire.answer(parts, reason if at == last else None, reported) for at, parts in enumerate(chunks)
    ]
    return Wire([gemini_wire.event(each) for each in made])


def _preface(server: Server) -> Iterator[bytes]:
    if server is Server.AZURE:  # the verdict on the prompt comes first, without choices
        yield _line(server, [], prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}])
    if server is Server.OPENROUTER:  # comments keep the connection alive
        yield b": OPENROUTER PROCESSING\n\n"
    if server in (Server.OPENAI, Server.AZURE, Server.VLLM):
        yield _line(
            server, [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]
        )


def _chunks(server: Server, deltas: Sequence[Delta], usage: Delta | None) -> Iterator[bytes]:
    for delta in deltas:
        role = {} if server in (Server.OPENAI, Server.AZURE, Server.VLLM) else {"role": "assistant"}
        more = {"usage": usage} if usage is not None else {}
        if server is Server.LLAMA_CPP:
            more["timings"] = {"prompt_n": 120, "predicted_n": 1}
        yield _line(server, [{"index": 0, "delta": {**role, **delta}, "finish_reason": None}], **more)


def _line(server: Server, choices: Sequence[Mapping[str, Any]], **more: Any) -> bytes:
    head: dict[str, Any] = {
        "id": f"{server.value}-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "served-model",
        "choices": choices,
        **more,
    }
    if server is Server.OPENROUTER:
        head["provider"] = "Upstream"
    return b"data: " + json.dumps(head, ensure_ascii=False).encode() + b"\n\n"
