"""Parses a JSON body and refuses what later parsers would reject with messages of their own. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from utils.a2a_common.protocol.json_values import MAX_VALUES
from utils.a2a_common.protocol.rpc_codes import INVALID_JSON, INVALID_PARAMS
from utils.messages.characters import escaped_halves_replaced

MAX_DEPTH = 64
"""Levels of objects and lists. The parser behind stops at 100 with a message of its own."""

MAX_DIGITS = 40
"""Digits of one integer: room for 128 bits. Python refuses to print more than 4300."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)', re.DOTALL)
_BINARY = ("raw", "bytes")


class BadJson(Exception):
    """The body is not acceptable. The message is a sentence for the client."""

    def __init__(self, message: str, code: int = INVALID_JSON) -> None:
        super().__init__(message)
        self.code = code


def parse(body: bytes) -> Any:
    """The value of a JSON body.

    Raises:
        BadJson: It is not acceptable.
    """
    check_shape(body)
    try:
        value = json.loads(
            body.decode("utf-8"), parse_int=_integer, parse_constant=_constant, object_pairs_hook=_object
        )
    except UnicodeError:
        raise BadJson("The body is not valid UTF-8.") from None
    except json.JSONDecodeError as error:
        raise BadJson(f"The body is not JSON (line {error.lineno}, column {error.colno}).") from None
    if escaped_halves_replaced(body) != body:
        raise BadJson("The body has half of a character: an escape of one surrogate without the other.")
    if any(b'"' + name.encode() + b'"' in body for name in _BINARY):
        _check_binary(value)
    return value


def check_shape(body: bytes) -> None:
    """Refuse nesting beyond `MAX_DEPTH` and more than `MAX_VALUES` values, without parsing.

    Raises:
        BadJson: It is too deep, or holds too many values.
    """
    brackets = body.count(b"[") + body.count(b"{")
    if brackets <= MAX_DEPTH and body.count(b",") <= MAX_VALUES:
        return
    bare = without_strings(body)
    if bare.count(b",") > MAX_VALUES:  # one between each two
        raise BadJson(f"The body holds more than {MAX_VALUES} values.", INVALID_PARAMS)
    depth = 0
    for bracket in re.findall(rb"[\[\]{}]", bare):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise BadJson(f"The body is nested deeper than {MAX_DEPTH} levels.", INVALID_PARAMS)


def without_strings(body: bytes) -> bytes:
    """A body without its strings, so that only structure and numbers are left."""
    return _STRING.sub(b"", body)


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise BadJson(f"The body has an integer of more than {MAX_DIGITS} digits.", INVALID_PARAMS)
    return int(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without duplicate names: readers differ in which of two values they take (RFC 8259, section 4)."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadJson("An object of the body has one name twice.")
    return found


def _constant(name: str) -> Any:
    raise BadJson(f"{name} is not JSON.")


def _check_binary(value: Any) -> None:
    """Refuse base64 that the parser behind would silently mend."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            for name in _BINARY:
                if isinstance(item.get(name), str):
                    _check_base64(name, item[name])
            waiting.extend(item[name] for name in item if name not in {"data", "metadata"})
        elif isinstance(item, list):
            waiting.extend(item)


def _check_base64(name: str, text: str) -> None:
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    padded = plain + "=" * (-len(plain) % 4)
    try:
        base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        raise BadJson(f"A part's {name} is not base64.", INVALID_PARAMS) from None
