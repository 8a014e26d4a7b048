"""Rules of Gemini's generateContent, on the Gemini API and on Vertex AI, with its own error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from utils.testing.strict.conversation import Rejection
from utils.testing.strict.counting import schema_tokens, text_tokens

Body = Mapping[str, Any]
Parts = list[Mapping[str, Any]]

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS1kb3VibGU="
"""The thought signature of the double's calls, which must come back as it was."""
UNSIGNED = "skip_thought_signature_validator"
"""What the documentation gives for the signature of a call that another model made."""


def check(body: Body, window: int) -> Rejection | None:
    """The first rule that a request breaks, or `None`."""
    for rule in (_contents(body), _tools(body), _pairs(body), _signatures(body)):
        for broken in rule:
            return broken
    tokens = count(body)
    if tokens > window:
        return _refuse(
            "window",
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window}).",
        )
    return None


def count(body: Body) -> int:
    """Tokens of the complete request."""
    system = sum(map(_tokens, (body.get("systemInstruction") or {}).get("parts") or ()))
    turns = sum(3 + sum(map(_tokens, content["parts"])) for content in body["contents"])
    return 3 + system + turns + schema_tokens(declarations(body))


def declarations(body: Body) -> list[Mapping[str, Any]]:
    """The functions that a request declares."""
    return [each for tool in body.get("tools") or () for each in tool.get("functionDeclarations") or ()]


def _tokens(part: Mapping[str, Any]) -> int:
    if "functionCall" in part or "functionResponse" in part:
        return text_tokens(json.dumps({**part, "thoughtSignature": None}, ensure_ascii=False))
    return text_tokens(part.get("text", ""))


def _refuse(rule: str, message: str) -> Rejection:
    return Rejection(rule, message, code="INVALID_ARGUMENT")


def _of(content: Mapping[str, Any], kind: str) -> Parts:
    return [part for part in content["parts"] if kind in part]


def _contents(body: Body) -> Iterator[Rejection]:
    if not body.get("contents"):
        yield _refuse("empty_conversation", "* GenerateContentRequest.contents: contents is not specified")
    for index, content in enumerate(body["contents"]):
        if content.get("role", "user") not in {"user", "model", "function"}:
            yield _refuse("system_not_leading", "Please use a valid role: user, model.")
        if not content.get("parts"):
            yield _refuse(
                "content",
                f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.",
            )
        for part in content["parts"]:
            if not set(part) - {"thought", "thoughtSignature"} or part.get("text") == "":
                yield _refuse(
                    "blank_text",
                    f"* GenerateContentRequest.contents[{index}].parts: required oneof field 'data' must have one initialized field",
                )
    if body["contents"][-1].get("role") == "model":
        yield _refuse(
            "prefill",
            "Please ensure that single turn requests end with a user role or the role field is empty.",
        )


def _tools(body: Body) -> Iterator[Rejection]:
    names = [each["name"] for each in declarations(body)]
    for name in names:
        if not NAME.fullmatch(name):
            yield _refuse("tool_name", "Invalid function name. Must start with a letter or an underscore.")
        if names.count(name) > 1:
            yield _refuse("duplicate_tool", f"Duplicate function declaration found: {name}")


def _pairs(body: Body) -> Iterator[Rejection]:
    open_calls: list[str] = []
    for index, content in enumerate(body["contents"]):
        given = [part["functionResponse"]["name"] for part in _of(content, "functionResponse")]
        if len(given) != len(open_calls):
            rule = "orphan_call" if len(given) < len(open_calls) else "orphan_result"
            yield _refuse(
                rule,
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
            )
        open_calls = [part["functionCall"]["name"] for part in _of(content, "functionCall")]
        if open_calls and (index == 0 or body["contents"][index - 1].get("role") == "model"):
            yield _refuse(
                "first_not_user",
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
            )


def _signatures(body: Body) -> Iterator[Rejection]:
    """The calls of the current turn, those after the last words of the user, are signed; earlier ones are not looked at."""
    for index, content in enumerate(body["contents"]):
        if index < _turn(body):
            continue
        first = next(iter(_of(content, "functionCall")), None)
        if first is not None and first.get("thoughtSignature") not in (SIGNATURE, UNSIGNED):
            yield _refuse(
                "signature",
                f"Function call is missing a thought_signature in functionCall parts. Function call `default_api:{first['functionCall']['name']}`, position {index}.",
            )


def _turn(body: Body) -> int:
    """Where the current turn begins."""
    words = [
        index
        for index, content in enumerate(body["contents"])
        if content.get("role", "user") == "user" and not _of(content, "functionResponse")
    ]
    return words[-1] if words else 0
