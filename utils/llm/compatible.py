"""The client of OpenAI-compatible servers: `ChatOpenAI`, tolerant of the deviations of such servers.

`ChatOpenAI` drops `reasoning_content`, and loses tool calls without an index or with arguments that are not text.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import openai
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from utils.llm.complete_answers import CompleteAnswers
from utils.llm.reply.thoughts import REASONING_FIELDS

# `ChatOpenAI` serialises each chunk; for a field of another type than OpenAI's, that warns with a quote of the chunk.
warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)


class CompatibleChatModel(CompleteAnswers, ChatOpenAI):
    """`ChatOpenAI` for servers that are compatible with it in most ways."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        choice = _first(chunk.get("choices"))
        delta = _mended(choice.get("delta"))
        if choice:
            chunk = {**chunk, "choices": [{**choice, "delta": delta}]}
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if made is not None:
            made.message.additional_kwargs.update(_reasoning(delta))
        return made

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        body = response if isinstance(response, dict) else response.model_dump(warnings=False)
        made = super()._create_chat_result(response, generation_info)
        message = _first(body.get("choices")).get("message")
        if isinstance(message, Mapping) and made.generations:
            answer = made.generations[0].message
            if isinstance(answer, AIMessage):
                answer.additional_kwargs.update(_reasoning(message))
        return made


def _first(choices: Any) -> dict[str, Any]:
    return dict(choices[0]) if isinstance(choices, list) and choices else {}


def _mended(delta: Any) -> dict[str, Any]:
    """A delta whose content is text and whose calls have an index and arguments as text."""
    mended = dict(delta) if isinstance(delta, Mapping) else {}
    if isinstance(mended.get("content"), list):  # Mistral's reasoning models
        blocks = [block for block in mended["content"] if isinstance(block, Mapping)]
        mended["reasoning_content"] = "".join(_thinking(block) for block in blocks)
        mended["content"] = "".join(str(block.get("text", "")) for block in blocks)
    calls = mended.get("tool_calls")
    if isinstance(calls, list):
        mended["tool_calls"] = [_mended_call(position, call) for position, call in enumerate(calls)]
    return mended


def _mended_call(position: int, call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call.get("function") or {})
    if isinstance(function.get("arguments"), Mapping):
        function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    index = call.get("index")
    return {**call, "function": function, "index": position if index is None else index}


def _thinking(block: Mapping[str, Any]) -> str:
    inner = block.get("thinking")
    if isinstance(inner, list):
        return "".join(str(each.get("text", "")) for each in inner if isinstance(each, Mapping))
    return str(inner or "")


def _reasoning(message: Mapping[str, Any]) -> dict[str, str]:
    """The reasoning of a message, under one name: servers that send both fields send the same text in them."""
    found = next((text for field in REASONING_FIELDS if isinstance(text := message.get(field), str)), "")
    return {REASONING_FIELDS[0]: found} if found else {}
