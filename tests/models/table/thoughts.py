"""Reasoning: in the answer's text, in a field of its own, in blocks. Shown as reasoning, never as an answer."""

from __future__ import annotations

from tests.models.row import LIMITED, Row
from utils.testing.strict.servers import Server, called, converse, pieces, said, stream, thought

_ANSWER = "You are right."
_THOUGHT = "The user may be wrong."


def _tagged(name: str, opened: str, closed: str, server: Server) -> Row:
    text = f"{opened}\n{_THOUGHT}\n{closed}\n\n{_ANSWER}"
    return Row(name, server, [stream(server, *pieces(text, 3))], text=_ANSWER, reasoned=_THOUGHT)


ROWS = [
    _tagged("<think> (Qwen3, R1 without a parser)", "<think>", "</think>", Server.OLLAMA),
    _tagged("<think>", "<think>", "</think>", Server.VLLM),
    _tagged("<thinking>", "<thinking>", "</thinking>", Server.LLAMA_CPP),
    _tagged("<reasoning>", "<reasoning>", "</reasoning>", Server.OPENROUTER),
    _tagged("[THINK] (Magistral)", "[THINK]", "[/THINK]", Server.MISTRAL),
    _tagged("◁think▷ (Kimi)", "◁think▷", "◁/think▷", Server.VLLM),
    _tagged("<seed:think> (Seed-OSS)", "<seed:think>", "</seed:think>", Server.LLAMA_CPP),
    Row(
        "channels of gpt-oss",
        Server.LM_STUDIO,
        [
            stream(
                Server.LM_STUDIO,
                *pieces(
                    f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{_ANSWER}"
                ),
            )
        ],
        text=_ANSWER,
        reasoned=_THOUGHT,
    ),
    Row(
        "a closing tag only, since the template opens it",
        Server.VLLM,
        [stream(Server.VLLM, *pieces(f"{_THOUGHT}\n</think>\n\n{_ANSWER}", 3))],
        text=_ANSWER,
        reasoned=_THOUGHT,
        replaced=True,
    ),
    *(
        Row(
            f"the field {field}",
            server,
            [stream(server, thought(_THOUGHT[:9], field), thought(_THOUGHT[9:], field), said(_ANSWER))],
            text=_ANSWER,
            reasoned=_THOUGHT,
        )
        for server, field in [
            (Server.VLLM, "reasoning_content"),
            (Server.LLAMA_CPP, "reasoning_content"),
            (Server.LITELLM, "reasoning_content"),
            (Server.OLLAMA, "reasoning"),
            (Server.OPENROUTER, "reasoning"),
            (Server.VLLM, "reasoning"),
        ]
    ),
    Row(
        "both fields at once (OpenRouter)",
        Server.OPENROUTER,
        [stream(Server.OPENROUTER, {"reasoning": _THOUGHT, "reasoning_content": _THOUGHT}, said(_ANSWER))],
        text=_ANSWER,
        reasoned=_THOUGHT,
    ),
    Row(
        "blocks of thinking (Magistral)",
        Server.MISTRAL,
        [
            stream(
                Server.MISTRAL,
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]}]},
                {"content": [{"type": "text", "text": _ANSWER}]},
            )
        ],
        text=_ANSWER,
        reasoned=_THOUGHT,
    ),
    Row(
        "a reasoning block",
        Server.BEDROCK,
        [
            converse(
                [{"reasoningContent": {"text": _THOUGHT}}, {"reasoningContent": {"signature": "c2ln"}}],
                [{"text": _ANSWER}],
            )
        ],
        text=_ANSWER,
        reasoned=_THOUGHT,
    ),
    Row(
        "<think> on Bedrock",
        Server.BEDROCK,
        [converse([{"text": f"<thinking>{_THOUGHT}</thinking>"}, {"text": f"\n{_ANSWER}"}])],
        text=_ANSWER,
        reasoned=_THOUGHT,
    ),
    Row(
        "reasoning before a call",
        Server.VLLM,
        [stream(Server.VLLM, thought(_THOUGHT), called("write", {"line": "x y"}), reason="tool_calls")],
        wrote=["x y"],
        reasoned=_THOUGHT,
    ),
    Row(
        "reasoning and no answer, once",
        Server.OLLAMA,
        [stream(Server.OLLAMA, thought(_THOUGHT))],
        retried=["empty_response"],
        reasoned=_THOUGHT,
    ),
    Row(
        "reasoning up to the limit",
        Server.LLAMA_CPP,
        [stream(Server.LLAMA_CPP, *pieces("<think>\nhm, wait, is it? " * 3), reason="length")] * 2,
        text="",
        state="failed",
        code="answer_cut",
        sentence="LLM_MAX_OUTPUT_TOKENS",
        retried=["answer_cut"],
        reasoned=None,  # type: ignore[arg-type]
        settings=LIMITED,
    ),
]
