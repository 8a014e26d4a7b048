"""Normalises the tool calls of an answer to the one form that every client library sends correctly. Pure.

An answer may carry a call several times: in `tool_calls`, as a content block, and raw in
`additional_kwargs`. Calls whose arguments are not JSON are in `invalid_tool_calls`; `langchain-openai`
sends them as calls, and they never get a result. Only `tool_calls` is authoritative here.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from langchain_core.messages import AIMessage

CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "invalid_tool_call"})
"""Types of content blocks that are tool calls. LangChain's clients send some of them as such."""

_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})

_RAW_CALLS = ("tool_calls", "function_call")

_LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")  # OpenAI: at most 40; Anthropic: these letters
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")

Block = str | dict[str, Any]


def normal_answer(message: AIMessage) -> AIMessage:
    """The answer without calls that can have no result; the same object if it has none.

    A call with malformed arguments never ran: a sentence in the answer's text replaces it.
    """
    known = {str(call["id"] or "") for call in message.tool_calls}
    broken = list(message.invalid_tool_calls)
    content = _clean_content(message.content, known)
    extra = {key: value for key, value in message.additional_kwargs.items() if key not in _RAW_CALLS}
    if broken:
        content = _with_notes(content, [_note(call.get("name")) for call in broken])
    elif content is message.content and (message.tool_calls or len(extra) == len(message.additional_kwargs)):
        return message
    return message.model_copy(
        update={"content": content, "invalid_tool_calls": [], "additional_kwargs": extra}
    )


def call_ids(message: AIMessage, taken: set[str]) -> list[str]:
    """A legal, unused id for each call of the answer; adds them to `taken`, the ids in use."""
    ids: list[str] = []
    for place, call in enumerate(message.tool_calls):
        stem = str(call["id"] or "") or f"call-{message.id or len(taken)}-{place}"
        name, again = _legal_id(stem), 2
        while name in taken:
            name, again = _legal_id(f"{stem}-{again}"), again + 1
        taken.add(name)
        ids.append(name)
    return ids


def _legal_id(call_id: str) -> str:
    """The id, or one derived from it that all providers accept."""
    if _LEGAL_ID.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def legal_name(name: str) -> str:
    """The tool's name, or one derived from it that all providers accept, since models invent invalid ones."""
    if _LEGAL_NAME.fullmatch(name):
        return name
    return _ILLEGAL.sub("_", name)[:64] or "unknown"


def with_call_ids(message: AIMessage, ids: Sequence[str]) -> AIMessage:
    """The answer with these call ids, also in its content blocks; the same object if they are unchanged."""
    own = zip(message.tool_calls, ids, strict=True)
    if all(call["id"] == name and legal_name(call["name"]) == call["name"] for call, name in own):
        return message
    renamed: defaultdict[str, list[str]] = defaultdict(list)
    for call, name in zip(message.tool_calls, ids, strict=True):
        renamed[str(call["id"] or "")].append(name)
    calls = [
        {**call, "id": name, "name": legal_name(call["name"])}
        for call, name in zip(message.tool_calls, ids, strict=True)
    ]
    content: str | list[Block] = message.content
    if isinstance(content, list):
        content = [_renamed_block(block, renamed) for block in content]
    return message.model_copy(update={"tool_calls": calls, "content": content})


def block_call_id(block: object) -> str | None:
    """The call id of a content block that is a tool call; `None` for other blocks."""
    if not isinstance(block, Mapping) or block.get("type") not in CALL_BLOCKS:
        return None
    return str(block.get("call_id") or block.get("id") or "")


def is_thought(block: object) -> bool:
    """Whether a content block holds a model's thoughts, which are no answer."""
    return isinstance(block, Mapping) and block.get("type") in _THOUGHTS


def _renamed_block(block: Block, renamed: Mapping[str, list[str]]) -> Block:
    call_id = block_call_id(block)
    if call_id is None or not isinstance(block, dict) or not renamed.get(call_id):
        return block
    key = "call_id" if block.get("call_id") else "id"
    new = {**block, key: renamed[call_id].pop(0)}
    return {**new, "name": legal_name(str(block["name"]))} if "name" in block else new


def _clean_content(content: str | list[Block], known: set[str]) -> str | list[Block]:
    """Content without blank texts, which Anthropic refuses, and without call blocks that are not in `tool_calls`."""
    if isinstance(content, str):
        return "" if content.isspace() else content
    seen: set[str] = set()
    kept = text_blocks(block for block in content if _is_sound(block, known, seen))
    return content if all(old is new for old, new in zip_longest(content, kept)) else kept


def text_blocks(blocks: Iterable[Block]) -> list[Block]:
    """The blocks with each bare string, which OpenAI refuses in a list, as a text block."""
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]


def _is_sound(block: object, known: set[str], seen: set[str]) -> bool:
    if isinstance(block, str):
        return bool(block) and not block.isspace()
    if not isinstance(block, Mapping):
        return False
    call_id = block_call_id(block)
    if call_id is not None:
        first = call_id not in seen
        seen.add(call_id)
        return call_id in known and first
    if block.get("type") == "text":
        text = block.get("text")
        return isinstance(text, str) and bool(text) and not text.isspace()
    return bool(block)


def _with_notes(content: str | list[Block], notes: Sequence[str]) -> str | list[Block]:
    if isinstance(content, str):
        return "\n".join([*([content] if content else []), *notes])
    return [*content, *({"type": "text", "text": note} for note in notes)]


def _note(name: str | None) -> str:
    return f"[A call of {name or 'a tool'} had malformed arguments and was not run.]"
