"""The labelled requests, and the tools and messages that a case stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

DATA = Path(__file__).with_name("routing.yaml")


@cache
def dataset() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(DATA.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return loaded


def clock() -> datetime:
    return datetime.fromisoformat(dataset()["now"])


def written_tools(agent: str) -> list[BaseTool]:
    """The tools of the dataset."""
    return [_tool(definition) for definition in dataset()["tools"][agent]]


def messages_of(case: Mapping[str, Any]) -> list[BaseMessage]:
    """The conversation before a case's request, and the request."""
    messages: list[BaseMessage] = []
    for number, turn in enumerate(case.get("history", ())):
        messages.append(HumanMessage(turn["user"]))
        messages.extend(_called(turn.get("calls", ()), turn.get("results", ()), f"h{number}"))
        messages.append(AIMessage(turn["answer"]))
    return [*messages, HumanMessage(case["request"])]


def answered_messages(case: Mapping[str, Any]) -> list[BaseMessage]:
    """A request with its calls made and answered."""
    results = case["results"]
    contents = [r["text"] if "text" in r else json.dumps(r["content"]) for r in results]
    return [HumanMessage(case["request"]), *_called(results, contents, "a")]


def _called(calls: Sequence[Mapping[str, Any]], results: Sequence[str], prefix: str) -> list[BaseMessage]:
    if not calls:
        return []
    made = [{"name": c["tool"], "args": c["args"], "id": f"{prefix}-{i}"} for i, c in enumerate(calls)]
    answers = [ToolMessage(text, tool_call_id=f"{prefix}-{i}") for i, text in enumerate(results)]
    return [AIMessage("", tool_calls=made), *answers]


def _tool(definition: Mapping[str, Any]) -> BaseTool:
    schema = {
        "type": "object",
        "title": definition["name"],
        "properties": definition["parameters"],
        "required": definition["required"],
    }
    return StructuredTool(
        name=definition["name"],
        description=definition["description"],
        args_schema=schema,
        func=lambda **arguments: json.dumps(arguments),
        metadata={"examples": definition["examples"]},
    )
