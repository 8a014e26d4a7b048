"""What is no text in the JSON of a server costs the character and not the message."""

from __future__ import annotations

import json

import pytest
from mcp.types import JSONRPCResponse

from utils.mcp.json_text import message_of


def read(message: bytes) -> object:
    """The value of `a` in a message, as the MCP package reads it."""
    answer = message_of(b'{"jsonrpc":"2.0","id":1,"result":{"a":"' + message + b'"}}')
    assert isinstance(answer.root, JSONRPCResponse)
    return answer.root.result["a"]


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (rb"x\ud800y", "x\ufffdy"),
        (rb"x\uDFFFy", "x\ufffdy"),
        (rb"\udc00\ud800", "\ufffd\ufffd"),
        (rb"\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
        (rb"\\\ud800", "\\\ufffd"),
        (rb"\ud800\\ud800", "\ufffd\\ud800"),
        (rb"\ud800\\\\udfff", "\ufffd\\\\udfff"),
        (b"x\xffy", "x\ufffdy"),
    ],
)
def test_a_lone_surrogate_or_a_byte_that_is_no_text_is_replaced(sent: bytes, text: str) -> None:
    assert read(sent) == text


@pytest.mark.parametrize("text", ["plain", "\U0001f600", "\\ud800", "\\\\ud800", '"\\n', "\x00\x01", "é"])
def test_any_text_stays_as_it_is(text: str) -> None:
    for ascii_only in (True, False):
        assert read(json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()) == text


@pytest.mark.parametrize("text", [b"", b"{", b"null", b"[]", b'{"jsonrpc":"2.0"}', b"[" * 100_000])
def test_what_is_no_message_is_an_error_of_its_value(text: bytes) -> None:
    with pytest.raises(ValueError):
        message_of(text)
