"""What three providers refuse, checked on the payload that the real client libraries make.

OpenAI's and Bedrock's rules are those of the strict provider double; Anthropic's are here. None of
it shares code with `utils.context`.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from langchain_core.messages import BaseMessage

from utils.context.sending import without_foreign_blocks
from utils.testing.strict import bedrock_rules, openai_rules

TOOLS = ("get", "search", "list_pull_requests", "get_log", "read_file", "read_tool_output", "recall")
_HUGE = 10**12


@cache
def _client() -> Any:
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    return ChatOpenAI(model="gpt-4o", api_key=SecretStr("sk-none"))


def openai_body(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """The Chat Completions request."""
    body: dict[str, Any] = _client()._get_request_payload(
        without_foreign_blocks(messages, _client()._llm_type)
    )
    body["tools"] = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in TOOLS]
    return body


def bedrock_body(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """The Converse request."""
    from langchain_aws.chat_models.bedrock_converse import _messages_to_bedrock

    talk, system = _messages_to_bedrock(list(messages))
    specs = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in TOOLS]
    return {"messages": talk, "system": system, "toolConfig": {"tools": specs}}


def refusals(messages: Sequence[BaseMessage]) -> list[str]:
    """Why each provider would refuse a request, but for its size."""
    found = []
    if wrong := _openai_parts(openai_body(messages)):
        found.append(f"openai {wrong}")
    if wrong := _bedrock_documents(bedrock_body(messages)):
        found.append(f"bedrock {wrong}")
    if broken := openai_rules.check(openai_body(messages), _HUGE):
        found.append(f"openai {broken.rule}: {broken.message}")
    if broken := bedrock_rules.check(bedrock_body(messages), _HUGE):
        found.append(f"bedrock {broken.rule}: {broken.message}")
    if wrong := anthropic_refusal(messages):
        found.append(f"anthropic {wrong}")
    return found


PARTS = {
    "system": {"text"},
    "user": {"text", "image_url", "file", "input_audio"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
}
_NAME = re.compile(r"[^\s<|\\/>]{1,64}")
_DOCUMENT_NAME = re.compile(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*")


def _openai_parts(body: dict[str, Any]) -> str | None:
    """Which content part or name Chat Completions does not take."""
    for message in body["messages"]:
        if "name" in message and not _NAME.fullmatch(message["name"]):
            return f"name {message['name']!r}"
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("type") not in PARTS[message["role"]]:
                return f"{message['role']} with a part of type {part.get('type')}"
            if part["type"] == "file" and not ({"file_id", "filename"} & set(part["file"])):
                return "file without a name"
    return None


def _bedrock_documents(body: dict[str, Any]) -> str | None:
    """What Converse checks of documents: a name of few letters, used once, with text beside it."""
    names: set[str] = set()
    for message in body["messages"]:
        for block in message["content"]:
            if "document" not in block:
                continue
            name = block["document"]["name"]
            if name in names or not _DOCUMENT_NAME.fullmatch(name):
                return f"document name {name!r}"
            names.add(name)
            if not any("text" in other for other in message["content"]):
                return "document without text"
    return None


def anthropic_refusal(messages: Sequence[BaseMessage]) -> str | None:
    """The first of Anthropic's rules that a request breaks. Turns of one role in a row are allowed."""
    from langchain_anthropic.chat_models import _format_messages

    _, talk = _format_messages(list(messages), model="claude-sonnet-4-5")
    if not talk or talk[0]["role"] != "user":
        return "first message must use the user role"
    if talk[-1]["role"] != "user":
        return "prefill"
    return _anthropic_tools(talk) or _anthropic_texts(talk)


def _anthropic_tools(talk: Sequence[Any]) -> str | None:
    seen: set[str] = set()
    asked: list[str] = []
    for message in [*talk, {"role": "assistant", "content": []}]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        if asked or message["role"] == "user":
            given = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
            if sorted(given) != sorted(asked):
                return f"tool_use {asked} answered by tool_result {given}"
            kinds = [block.get("type") == "tool_result" for block in blocks]
            if kinds != sorted(kinds, reverse=True):
                return "tool_result must come first"
        asked = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if len(set(asked)) != len(asked) or seen & set(asked):
            return "tool_use ids must be unique"
        seen |= set(asked)
    return None


def _anthropic_texts(talk: Sequence[Any]) -> str | None:
    for message in talk:
        content = message["content"]
        if not content or (isinstance(content, str) and not content.strip()):
            return "content must be non-empty"
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "text" and not block["text"].strip():
                return "text content blocks must contain non-whitespace text"
    return None
