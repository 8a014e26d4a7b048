"""Framing of `application/vnd.amazon.eventstream`, as AWS' streaming operations send it.

A frame is: total length, length of the headers, CRC-32 of these eight bytes; the headers; the
payload; CRC-32 of all before. Numbers are big-endian, headers are name, type 7 (string) and value.
"""

from __future__ import annotations

import json
import struct
from binascii import crc32
from collections.abc import Mapping
from typing import Any

_STRING = 7
_OVERHEAD = 16  # prelude of 12 bytes, closing checksum of 4


def event(name: str, payload: Mapping[str, Any]) -> bytes:
    """A frame that carries an event."""
    return _frame({":event-type": name, ":message-type": "event"}, payload)


def exception(name: str, message: str) -> bytes:
    """A frame that ends a stream with an error."""
    return _frame({":exception-type": name, ":message-type": "exception"}, {"message": message})


def _frame(headers: Mapping[str, str], payload: Mapping[str, Any]) -> bytes:
    head = b"".join(_header(name, value) for name, value in headers.items())
    head += _header(":content-type", "application/json")
    body = json.dumps(payload).encode()
    prelude = struct.pack("!II", len(head) + len(body) + _OVERHEAD, len(head))
    message = prelude + struct.pack("!I", crc32(prelude)) + head + body
    return message + struct.pack("!I", crc32(message))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack("!B", len(key)) + key + struct.pack("!BH", _STRING, len(text)) + text
