"""The forms in which models write a tool call as text. Pure.

| form | written by |
|---|---|
| JSON with `name` and `arguments`, `args` or `parameters`; alone, in a list, a fence or a tag | Qwen2.5, Hermes, Granite, Phi, Command R |
| `<function=NAME>` with JSON or `<parameter=KEY>`; `<invoke name="NAME">` | Llama 3.1, Qwen3-Coder, MiniMax |
| `NAME` with `<arg_key>` and `<arg_value>` | GLM |
| `[TOOL_CALLS]NAME[ARGS]{…}` | Mistral |
| `NAME<|tool_sep|>{…}`, `NAME<|tool_call_argument_begin|>{…}` | DeepSeek, Kimi |
| `to=functions.NAME … <|message|>{…}` | gpt-oss |
| `NAME({…})`, `NAME {…}` | many |
| `[NAME(key="value")]`, `NAME.call(key="value")` | Llama 4, Gemma, LFM2 |
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from utils.llm.reply.tool_names import plain_name

NAMES = ("name", "tool", "tool_name", "function")
ARGUMENTS = ("arguments", "parameters", "args")
KEYS = (*NAMES, *ARGUMENTS, "type", "id", "index", "tool_call_id", "tool_calls")

FENCES = ("", "json", "tool_call", "tool_calls", "tool_code")
MISTRAL = "[TOOL_CALLS]"
TAGS = (
    "tool_call",
    "tool_calls",
    "toolcall",
    "tools",
    "tool",
    "function",
    "function_call",
    "function_calls",
    "function-call",
    "python_tag",
    "tool_call_begin",
    "tool_call_end",
    "tool_call_start",
    "tool_calls_begin",
    "tool_calls_end",
    "tool_calls_section_begin",
    "tool_calls_section_end",
    "start_action",
    "end_action",
    "action_start",
    "action_end",
    "plugin",
    "invoke",
)
_ENDS = ("eot_id", "eom_id", "im_end", "call", "end")

_FENCE = rf"```(?:{'|'.join(FENCES)})(?=\s|\Z)"
_TAG = rf"<[|/]*(?:\w+:)?(?:{'|'.join((*TAGS, *_ENDS))})\|?>"
_GAP = re.compile(rf"\s+|,|;|{_TAG}|</[\w-]*>?\Z|\[TOOL_CALLS\]", re.IGNORECASE)
_GAP_IN_FENCE = re.compile(rf"\s+|,|;|{_FENCE}", re.IGNORECASE)
_NAMED = re.compile(
    r"""(?:["'](?:tool_)?name["']\s*:\s*["']|<function[ =]["']?(?:name=["'])?|<invoke name=["']|functions\.)"""
    r"""(?:functions\.)?([\w-]+)"""
)
_FULL_WIDTH = str.maketrans({"\uff5c": "|", "\u2581": "_"})  # DeepSeek's control tokens
_JSON = json.JSONDecoder(strict=False)

_BEFORE_ARGUMENTS = re.compile(
    r"(?:<\|start\|>assistant)?(?:<\|channel\|>\w++)?\s*+(?:to=)?(?:function<\|tool_sep\|>)?"
    r"(?P<name>[\w.:/-]+?)"
    r"(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?(?:<\|channel\|>\w+)?(?:<\|tool_sep\|>|<\|tool_call_argument_begin\|>)?"
    r"\s*+(?:<\|constrain\|>)?(?:(?:json|code)(?=\s|<))?\s*+(?:<\|message\|>)?\(?\s*+(?:```(?:json)?\s*+)?(?=\{)"
)
_AFTER_ARGUMENTS = re.compile(r"\s*(?:\)|```)")
_CLOSING = re.compile(r"\s*</(?:function|invoke)>")
_XML = re.compile(
    r"""<(?:function|invoke)(?:=|\s+name=)["']?(?P<name>[\w.:/-]++)["']?(?P<attributes>[^>]*?)(?P<closed>/)?>""",
)
_XML_END = re.compile(r"</(?:function|invoke)>|(?=</?tool_calls?>)|\Z")
_PARAMETER = re.compile(
    r"""\s*<parameter(?:=|\s+name=)["']?(?P<key>[\w-]++)["']?[^>]*>(?P<value>.*?)"""
    r"""(?:</parameter>|(?=<parameter[= ]|</(?:function|invoke|tool_call)>)|\Z)""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
_GLM = re.compile(r"(?P<name>[\w.-]+)\s*(?=<arg_key>)")
_GLM_PAIR = re.compile(
    r"\s*<arg_key>(?P<key>[^<]*)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>", re.DOTALL
)
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


class WrittenCall(NamedTuple):
    """A tool call in a text."""

    name: str
    arguments: dict[str, Any]


class NoCallError(ValueError):
    """The text does not consist of calls alone."""


def plain_text(text: str) -> str:
    """The text with ASCII control tokens, and without a template's doubled outer braces."""
    plain = text.strip().translate(_FULL_WIDTH)
    return plain[1:-1].strip() if plain.startswith("{{") and plain.endswith("}}") else plain


def tools_named(text: str) -> set[str]:
    """Names in a text at positions where a call has its tool's name."""
    return {found[1] for found in _NAMED.finditer(text)}


def values(text: str, tools: Collection[str]) -> list[Mapping[str, Any]]:
    """The objects that a text consists of, without tags and fences; a call in another form becomes an object.

    Raises:
        NoCallError: The text has something else.
    """
    between = _GAP_IN_FENCE if text.startswith("`") else _GAP
    found: list[Mapping[str, Any]] = []
    at = 0
    while at < len(text):
        if gap := between.match(text, at):
            at = gap.end()
            continue
        made, at = _one(text, at, tools)
        found.extend(made)
    if not found:
        raise NoCallError
    return found


def _one(text: str, at: int, tools: Collection[str]) -> tuple[list[Mapping[str, Any]], int]:
    """The value at a position, and where it ends."""
    if opened := _XML.match(text, at):
        return _xml(text, opened)
    if (glm := _GLM.match(text, at)) and plain_name(glm["name"], tools) in tools:
        return _pairs(text, glm)
    if (named := _BEFORE_ARGUMENTS.match(text, at)) and plain_name(named["name"], tools) in tools:
        arguments, at = json_value(text, named.end())
        if closed := _AFTER_ARGUMENTS.match(text, at):
            at = closed.end()
        return [{"name": named["name"], "arguments": arguments}], at
    value, at = json_value(text, at)
    return list(_objects(value)), at


def _xml(text: str, opened: re.Match[str]) -> tuple[list[Mapping[str, Any]], int]:
    """`<function=NAME>…</function>`: JSON or parameters between the tags, or attributes in the tag."""
    if opened["closed"]:
        given = {key: first or second for key, first, second in _ATTRIBUTE.findall(opened["attributes"])}
        return [{"name": opened["name"], "arguments": given.get("arguments", given)}], opened.end()
    inner = opened.end() + len(text[opened.end() :]) - len(text[opened.end() :].lstrip())
    if text.startswith("{", inner):
        arguments, at = json_value(text, inner)
        closing = _CLOSING.match(text, at)
        return [{"name": opened["name"], "arguments": arguments}], closing.end() if closing else at
    arguments, at = {}, opened.end()
    while parameter := _PARAMETER.match(text, at):
        arguments[parameter["key"]] = _decoded(parameter["value"])
        at = parameter.end()
    closing = _XML_END.match(text, at + len(text[at:]) - len(text[at:].lstrip()))
    if closing is None:
        raise NoCallError
    return [{"name": opened["name"], "arguments": arguments}], closing.end()


def _pairs(text: str, named: re.Match[str]) -> tuple[list[Mapping[str, Any]], int]:
    arguments, at = {}, named.end()
    while pair := _GLM_PAIR.match(text, at):
        arguments[pair["key"].strip()] = _decoded(pair["value"])
        at = pair.end()
    if not arguments:
        raise NoCallError
    return [{"name": named["name"], "arguments": arguments}], at


def _decoded(value: str) -> Any:
    """A value between tags: lists and objects are JSON, all else is text, which a tool's schema converts."""
    plain = value.strip("\r\n")
    if plain.strip().startswith(("[", "{")):
        try:
            return json.loads(plain, strict=False)
        except ValueError:
            return plain
    return plain


def json_value(text: str, at: int) -> tuple[Any, int]:
    """The JSON value at a position, and where it ends.

    Raises:
        NoCallError: There is none.
    """
    try:
        return _JSON.raw_decode(text, at)
    except ValueError as error:
        raise NoCallError from error


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            raise NoCallError
        inner = each.get("function")
        yield {**each, **inner, "function": None} if isinstance(inner, dict) else each


def python_calls(text: str, tools: Collection[str]) -> list[WrittenCall]:
    """Calls in Python's syntax with literal arguments by keyword.

    Raises:
        NoCallError: The text is anything else.
    """
    source = re.sub(rf"{_TAG}|\A{_FENCE}|```\s*\Z", "", text, flags=re.IGNORECASE).strip()
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, MemoryError) as error:
        raise NoCallError from error
    made = [_python_call(call, tools) for statement in body for call in _python_parts(statement)]
    if not made:
        raise NoCallError
    return made


def _python_parts(statement: ast.stmt) -> Iterator[ast.expr]:
    if not isinstance(statement, ast.Expr):
        raise NoCallError
    value = statement.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
        yield from value.args  # Gemma prints the result
    elif isinstance(value, ast.List | ast.Tuple):
        yield from value.elts
    else:
        yield value


def _python_call(node: ast.expr, tools: Collection[str]) -> WrittenCall:
    if not isinstance(node, ast.Call) or node.args:
        raise NoCallError
    name = plain_name(ast.unparse(node.func).removesuffix(".call"), tools)
    if name not in tools or any(keyword.arg is None for keyword in node.keywords):
        raise NoCallError
    return WrittenCall(name, {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords})


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id.lower() in _CONSTANTS:
        return _CONSTANTS[node.id.lower()]
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise NoCallError from error
