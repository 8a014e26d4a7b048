"""Native tool calls, as servers send them differently from OpenAI."""

from __future__ import annotations

from tests.models.row import Row
from utils.testing.strict.conversation import Call, Reply
from utils.testing.strict.servers import Server, called, converse, said, stream

_ARGUMENTS = {"line": "x y"}
_CUT = '{"line": "Close the first tw'
_DEEP = '{"line": ' + "[" * 2_000 + "]" * 2_000 + "}"


def _use(arguments: str, name: str = "write") -> list[dict[str, object]]:
    return [
        {"start": {"toolUse": {"toolUseId": "tooluse_1", "name": name}}},
        {"toolUse": {"input": arguments}},
    ]


def _one(name: str, server: Server, delta: dict[str, object] | object, **more: object) -> Row:
    reply = stream(server, delta, reason="tool_calls")  # type: ignore[arg-type]
    return Row(name, server, [reply], wrote=["x y"], **more)  # type: ignore[arg-type]


ROWS = [
    *(
        Row(
            "a question to the user after a call whose arguments were refused",
            server,
            [Reply("", [Call("call_1", "write", {"times": 2})]), "Which line shall I write twice?"],
            text="Which line shall I write twice?",
            requests=2,
        )
        for server in (Server.OPENAI, Server.BEDROCK, Server.CLAUDE, Server.GEMINI_API)
    ),
    *(
        _one("a native call", server, called("write", _ARGUMENTS))
        for server in Server
        if server.speaks_openai
    ),
    Row(
        "a native call", Server.BEDROCK, [converse(_use('{"line": "x y"}'), reason="tool_use")], wrote=["x y"]
    ),
    Row(
        "an empty input where there are no arguments",
        Server.BEDROCK,
        [converse(_use("", "now"), reason="tool_use")],
        wrote=["now"],
    ),
    _one("no index (Gemini's endpoint)", Server.GEMINI, called("write", _ARGUMENTS, index=None)),
    _one("no id", Server.LLAMA_CPP, called("write", _ARGUMENTS, id_=None)),
    _one("arguments as an object (old Ollama)", Server.OLLAMA, called("write", _ARGUMENTS, encoded=False)),
    _one("arguments encoded twice", Server.VLLM, called("write", '"{\\"line\\": \\"x y\\"}"')),
    _one("a dotted name", Server.OPENROUTER, called("functions.write", _ARGUMENTS)),
    _one("a namespace (Gemini)", Server.GEMINI, called("default_api.write", _ARGUMENTS)),
    _one("a name with a number (Kimi)", Server.VLLM, called("functions.write:0", _ARGUMENTS)),
    _one(
        "a control token behind the name (gpt-oss)",
        Server.VLLM,
        called("write<|channel|>commentary", _ARGUMENTS),
    ),
    _one("a number as text", Server.OLLAMA, called("write", {"line": "x y", "times": "1"})),
    Row(
        "two calls with one id",
        Server.OLLAMA,
        [
            stream(
                Server.OLLAMA,
                {
                    "tool_calls": [
                        *called("write", _ARGUMENTS)["tool_calls"],
                        *called("now", "{}", index=1)["tool_calls"],
                    ]
                },
            )
        ],
        wrote=["now", "x y"],
    ),
    Row(
        "finish_reason stop beside a call (Ollama)",
        Server.OLLAMA,
        [stream(Server.OLLAMA, called("write", _ARGUMENTS), reason="stop")],
        wrote=["x y"],
    ),
    Row(
        "a call that is written beside the call itself",
        Server.OLLAMA,
        [
            stream(
                Server.OLLAMA,
                said('{"name": "write", "arguments": {"line": "x y"}}'),
                called("write", _ARGUMENTS),
            )
        ],
        wrote=["x y"],
    ),
    Row(
        "a remark before a call",
        Server.OPENAI,
        [stream(Server.OPENAI, said("I shall write."), called("write", _ARGUMENTS), reason="tool_calls")],
        wrote=["x y"],
        replaced=True,
    ),
    *(
        Row(
            name,
            Server.OLLAMA,
            [
                stream(Server.OLLAMA, wrong, reason="tool_calls"),
                stream(Server.OLLAMA, called("write", _ARGUMENTS), reason="tool_calls"),
            ],
            wrote=["x y"],
        )
        for name, wrong in [
            ("an unknown tool", called("paint", _ARGUMENTS)),
            ("arguments that the schema refuses", called("write", {"row": 1})),
            ("no arguments", called("write", "")),
        ]
    ),
    *(
        Row(
            f"{name} where there are no arguments",
            Server.LITELLM,
            [stream(Server.LITELLM, called("now", sent, encoded=False), reason="tool_calls")],
            wrote=["now"],
        )
        for name, sent in [("null in text", "null"), ("null", None), ("null twice", '"null"')]
    ),
    _one("arguments as a Python dict", Server.OLLAMA, called("write", "{'line': 'x y'}")),
    *(
        Row(
            f"a call cut off, finish_reason {reason}",
            server,
            [stream(server, called("write", _CUT), reason=reason)],
            retried=["answer_cut"],
        )
        for server, reason in [
            (Server.OPENAI, "length"),
            (Server.AZURE, "length"),
            (Server.VLLM, "tool_calls"),  # it hides the limit behind a call: vllm-project/vllm#53269
            (Server.OLLAMA, "stop"),
            (Server.LLAMA_CPP, "length"),
            (Server.OPENROUTER, "length"),
            (Server.ANTHROPIC, "length"),
        ]
    ),
    Row(
        "a call cut off",
        Server.BEDROCK,
        [converse(_use(_CUT), reason="max_tokens")],
        retried=["answer_cut"],
    ),
    Row(
        "a call cut off twice",
        Server.VLLM,
        [stream(Server.VLLM, called("write", _CUT), reason="length")] * 2,
        text="",
        state="failed",
        code="answer_cut",
        sentence="LLM_MAX_OUTPUT_TOKENS",
        retried=["answer_cut"],
        requests=2,
    ),
    Row(
        "a call that breaks off twice, and the server gives no reason",
        Server.OLLAMA,
        [stream(Server.OLLAMA, called("write", '{"line": '), reason="tool_calls")] * 2,
        text="",
        state="failed",
        code="answer_cut",
        sentence="its server did not say why",
        retried=["answer_cut"],
        requests=2,
    ),
    Row(
        "arguments that come twice, for ever",
        Server.LITELLM,
        [stream(Server.LITELLM, called("write", '{"line": "x"}{"line": "x"}'), reason="tool_calls")] * 2,
        text="",
        state="failed",
        code="tool_call_unreadable",
        sentence="Choose an LLM_MODEL that calls tools",
        retried=["tool_call_unreadable"],
        requests=2,
    ),
    Row(
        "arguments that are no JSON, once",
        Server.OLLAMA,
        [stream(Server.OLLAMA, called("write", "{'line': x}"), reason="tool_calls")],
        retried=["tool_call_unreadable"],
    ),
    *(
        Row(
            "arguments nested deeper than can be read, once",
            server,
            [stream(server, called("write", _DEEP), reason="tool_calls")],
            retried=["tool_call_unreadable"],
        )
        for server in (Server.OPENAI, Server.VLLM, Server.ANTHROPIC)
    ),
    Row(
        "arguments nested deeper than can be read, once",
        Server.BEDROCK,
        [converse(_use(_DEEP), reason="tool_use")],
        retried=["tool_call_unreadable"],
    ),
    Row(
        "a tool call stopped by the filter",
        Server.AZURE,
        [stream(Server.AZURE, called("write", _ARGUMENTS), reason="content_filter")],
        text="",
        state="failed",
        code="content_filtered",
        sentence="content filter",
    ),
    Row(
        "a call that Gemini could not write",
        Server.GEMINI,
        [stream(Server.GEMINI, said(""), reason="malformed_function_call")],
        retried=["model_unavailable"],
    ),
]
