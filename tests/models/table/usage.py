"""Usage, as servers report it: it changes no answer."""

from __future__ import annotations

from tests.models.row import Row
from utils.testing.strict.servers import USAGE, Server, pieces, stream

_ANSWER = "You are right."
_FORMS = {
    "none at all": (Server.LLAMA_CPP, {"usage": None}),
    "in each chunk (Gemini, xAI)": (Server.GEMINI, {"usage_in_each": True}),
    "zero": (Server.OLLAMA, {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}),
    "a hundredfold": (Server.VLLM, {"usage": {**USAGE, "prompt_tokens": 12_000, "total_tokens": 12_009}}),
    "null fields": (Server.LITELLM, {"usage": {**USAGE, "prompt_tokens_details": None}}),
    "cached tokens": (Server.OPENAI, {"usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 100}}}),
    "reasoning tokens": (
        Server.OPENAI,
        {"usage": {**USAGE, "completion_tokens_details": {"reasoning_tokens": 7}}},
    ),
    "cost beside it": (Server.OPENROUTER, {"usage": {**USAGE, "cost": 0.0001, "is_byok": False}}),
}

ROWS = [
    Row(f"usage: {name}", server, [stream(server, *pieces(_ANSWER), **options)], text=_ANSWER)  # type: ignore[arg-type]
    for name, (server, options) in _FORMS.items()
]
