"""Tool calls that arrive as text, and text that only looks like one."""

from __future__ import annotations

from itertools import cycle

from tests.models.forms import BARE, FORMS, MENTIONS
from tests.models.row import Row
from utils.testing.strict.servers import Server, converse, pieces, stream

_LOCAL = cycle([Server.OLLAMA, Server.VLLM, Server.LLAMA_CPP, Server.OPENROUTER, Server.LM_STUDIO])
_UNREADABLE = "<tools><function=write>x</function></tools>"

ROWS = [
    *(
        Row(
            f"a call as text, {name}",
            server,
            [stream(server, *pieces(text))],
            wrote=["x y"],
            reasoned="I shall write." if "think" in text else "",
        )
        for (name, text), server in zip(FORMS.items(), _LOCAL, strict=False)
    ),
    *(
        Row(f"no call, {name}", server, [stream(server, *pieces(text))], text=text)
        for (name, text), server in zip(MENTIONS.items(), _LOCAL, strict=False)
    ),
    Row("a call as text", Server.OPENAI, [stream(Server.OPENAI, *pieces(BARE))], wrote=["x y"]),
    Row("a call as text", Server.AZURE, [stream(Server.AZURE, *pieces(BARE))], wrote=["x y"]),
    Row(
        "a call as text",
        Server.GEMINI,
        [stream(Server.GEMINI, *pieces(FORMS["gemma 3, tool_code"]))],
        wrote=["x y"],
    ),
    Row("a call as text, Llama on Bedrock", Server.BEDROCK, [converse([{"text": BARE}])], wrote=["x y"]),
    Row(
        "a call as text, two of them",
        Server.OLLAMA,
        [stream(Server.OLLAMA, *pieces(f"<tool_call>{BARE}</tool_call>\n<tool_call>{BARE}</tool_call>"))],
        wrote=["x y", "x y"],
    ),
    Row(
        "a call that cannot be read, once",
        Server.VLLM,
        [stream(Server.VLLM, *pieces(_UNREADABLE))],
        retried=["tool_call_unreadable"],
    ),
    Row(
        "a call that cannot be read, for ever",
        Server.VLLM,
        [stream(Server.VLLM, *pieces(_UNREADABLE))] * 2,
        text="",
        state="failed",
        code="tool_call_unreadable",
        sentence="Choose an LLM_MODEL that calls tools",
        retried=["tool_call_unreadable"],
        requests=2,
    ),
]
