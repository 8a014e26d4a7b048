"""Why an answer ended: cut off, filtered, repeated, failed, or not said at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.models.row import LIMITED, Row
from utils.testing.strict.servers import (
    Delta,
    Server,
    called,
    converse,
    error_line,
    pieces,
    said,
    stream,
    thought,
)
from utils.testing.strict_provider import Fault, FaultKind, Wire

_HALF, _REST = "The next thing that you must never do is ", "to skip the backup."
_LOOP = "very good and "
_LONG = "This paragraph says something that is worth keeping, in more words than it needs to. " * 3
_BROKEN = "unavailable"

_REFUSALS: Mapping[str, Sequence[Delta]] = {
    "whole": [{"refusal": "I cannot help with that."}],
    "in pieces": [{"content": None, "refusal": "I cannot "}, {"content": None, "refusal": "help with that."}],
}


def _joined(*wires: Wire) -> Wire:
    return Wire([part for wire in wires for part in wire.parts])


ROWS = [
    *(
        Row(
            "an answer cut off by the server is continued",
            server,
            [stream(server, *pieces(_HALF), reason="length"), stream(server, *pieces(_REST))],
            text=_HALF + _REST,
            requests=2,
        )
        for server in (
            Server.OPENAI,
            Server.AZURE,
            Server.OLLAMA,
            Server.LLAMA_CPP,
            Server.VLLM,
            Server.OPENROUTER,
        )
    ),
    Row(
        "an answer cut off by the server is continued",
        Server.BEDROCK,
        [converse([{"text": _HALF}], reason="max_tokens"), converse([{"text": _REST}])],
        text=_HALF + _REST,
        requests=2,
    ),
    Row(
        "a continued answer that repeats its last words",
        Server.OLLAMA,
        [
            stream(Server.OLLAMA, *pieces(_HALF), reason="length"),
            stream(Server.OLLAMA, *pieces("you must never do is " + _REST)),
        ],
        text=_HALF + _REST,
        replaced=True,
    ),
    Row(
        "an answer cut off twice",
        Server.OLLAMA,
        [
            stream(Server.OLLAMA, *pieces(_HALF), reason="length"),
            stream(Server.OLLAMA, *pieces(_REST), reason="length"),
        ],
        text=f"{_HALF}{_REST}\n\n> The answer was cut off at the model's limit of output tokens. Ask for the rest, or "
        "raise LLM_MAX_OUTPUT_TOKENS.",
        code="answer_cut",
        sentence="LLM_MAX_OUTPUT_TOKENS",
        requests=2,
    ),
    *(
        Row(
            "an answer cut off by our own limit",
            server,
            [stream(server, *pieces(_HALF), reason="length")],
            text=f"{_HALF}\n\n> The answer was cut off at the model's limit of output tokens. Ask for the "
            "rest, or raise LLM_MAX_OUTPUT_TOKENS.",
            code="answer_cut",
            requests=1,
            settings=LIMITED,
        )
        for server in (Server.OPENAI, Server.VLLM)
    ),
    *(
        Row(
            f"a filtered answer, {reason}",
            server,
            [stream(server, said("Sorry"), reason=reason)],
            text="Sorry\n\n> The model provider's content filter stopped the answer.",
            code="content_filtered",
            sentence="content filter",
        )
        for server, reason in [
            (Server.OPENAI, "content_filter"),
            (Server.AZURE, "content_filter"),
            (Server.GEMINI, "SAFETY"),
            (Server.ANTHROPIC, "refusal"),
            (Server.OPENROUTER, "content_filter"),
            (Server.LITELLM, "sensitive"),
        ]
    ),
    Row(
        "a filtered answer, guardrail_intervened",
        Server.BEDROCK,
        [converse([{"text": "Sorry"}], reason="guardrail_intervened")],
        text="Sorry\n\n> The model provider's content filter stopped the answer.",
        code="content_filtered",
    ),
    *(
        Row(
            f"a refusal in the field of its own, {name}",
            server,
            [stream(server, *deltas)],
            text="I cannot help with that.\n\n> The model provider's content filter stopped the answer.",
            code="content_filtered",
            requests=1,
        )
        for server in (Server.OPENAI, Server.AZURE)
        for name, deltas in _REFUSALS.items()
    ),
    Row(
        "nothing but the filter",
        Server.AZURE,
        [stream(Server.AZURE, reason="content_filter")],
        text="",
        state="failed",
        code="content_filtered",
        sentence="content filter",
    ),
    Row(
        "endless repetition",
        Server.OLLAMA,
        [stream(Server.OLLAMA, said(_LONG), *pieces(_LOOP * 3_000, 140))],
        text=f"{_LONG}{_LOOP}\n\n> The model repeated itself without end and was stopped.",
        code="answer_repeated",
        replaced=True,
    ),
    Row(
        "nothing but repetition, once",
        Server.OLLAMA,
        [stream(Server.OLLAMA, *pieces(_LOOP * 3_000, 140))],
        retried=["answer_repeated"],
        replaced=True,
    ),
    Row(
        "repeated reasoning, once",
        Server.VLLM,
        [stream(Server.VLLM, *[thought("Wait, let me check again. " * 6)] * 60)],
        retried=["answer_repeated"],
        reasoned=None,  # type: ignore[arg-type]
    ),
    Row(
        "the server's own guard against repetition",
        Server.VLLM,
        [stream(Server.VLLM, said(_LONG), reason="repetition")],
        text=f"{_LONG}\n\n> The model repeated itself without end and was stopped.",
        code="answer_repeated",
    ),
    *(
        Row(
            f"the provider behind it failed, finish_reason {reason}",
            server,
            [stream(server, said("Half of"), reason=reason)],
            retried=["model_unavailable"],
            replaced=True,
        )
        for server, reason in [
            (Server.OPENROUTER, "error"),
            (Server.OPENROUTER, "network_error"),
            (Server.VLLM, "abort"),
            (Server.LITELLM, "insufficient_system_resource"),
        ]
    ),
    Row(
        "an error in the middle, with choices",
        Server.OPENROUTER,
        [
            Wire(
                [
                    *stream(Server.OPENROUTER, said("Half of"), reason=None, usage=None, done=False).parts,
                    error_line(
                        {"code": 502, "message": "Provider returned error"},
                        choices=[{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
                    ),
                ]
            )
        ],
        retried=["model_unavailable"],
        replaced=True,
    ),
    *(
        Row(
            f"an error in the middle, {server.value}",
            server,
            [Fault(FaultKind.ERROR_EVENT)],
            replaced=True,
            text=None,
        )
        for server in (Server.OPENAI, Server.AZURE, Server.BEDROCK, Server.VLLM)
    ),
    *(
        Row(
            "a stream that breaks off",
            server,
            [Fault(FaultKind.BROKEN)],
            retried=["model_unavailable"],
            replaced=True,
        )
        for server in (Server.OPENAI, Server.AZURE, Server.BEDROCK, Server.OLLAMA)
    ),
    *(
        Row(
            "a stream that just ends in the middle",
            server,
            [Fault(FaultKind.ENDED)],
            retried=["model_unavailable"],
            replaced=True,
            requests=2,
        )
        for server in (
            Server.OPENAI,
            Server.AZURE,
            Server.BEDROCK,
            Server.OLLAMA,
            Server.CLAUDE,
            Server.GEMINI_API,
            Server.VERTEX,
        )
    ),
    Row(
        "a stream that just ends in the middle, for ever",
        Server.VLLM,
        [Fault(FaultKind.ENDED)] * 40,
        text="Half of an",
        state="failed",
        code="model_unavailable",
        sentence="broke off",
        retried=["model_unavailable"] * 2,
        requests=3,
        replaced=True,
    ),
    Row(
        "a stream that just ends after a whole call, which is not run",
        Server.LITELLM,
        [stream(Server.LITELLM, called("write", {"line": "x y"}), reason=None, usage=None, done=False)],
        retried=["model_unavailable"],
        requests=2,
    ),
    *(
        Row("an empty stream", server, [Fault(FaultKind.EMPTY)], retried=["empty_response"])
        for server in (Server.OPENAI, Server.OLLAMA, Server.LM_STUDIO)
    ),
    Row(
        "spaces only", Server.LLAMA_CPP, [stream(Server.LLAMA_CPP, said(" \n "))], retried=["empty_response"]
    ),
    Row(
        "nothing, for ever",
        Server.OLLAMA,
        [stream(Server.OLLAMA)] * 2,
        text="",
        state="failed",
        code="empty_response",
        retried=["empty_response"],
        requests=2,
    ),
    *(
        Row("no finish reason", server, [stream(server, said("Hello."), reason=None)], text="Hello.")
        for server in (Server.VLLM, Server.LITELLM)
    ),
    Row("no [DONE]", Server.LITELLM, [stream(Server.LITELLM, said("Hello."), done=False)], text="Hello."),
]
