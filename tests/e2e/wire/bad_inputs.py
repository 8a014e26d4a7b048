"""Two hundred and more requests that no client should send, generated from a few rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

HUGE = "9" * 5000
DEEP = "[" * 100_000
JSON = {"Content-Type": "application/json"}

WRONG_VALUES: tuple[Any, ...] = (
    None,
    0,
    -1,
    2**70,
    1.5,
    True,
    "",
    "\x00",
    "x" * 70_000,
    [],
    [[]],
    {},
    {"a": 1},
)

RAW_BODIES: tuple[bytes, ...] = (
    b"", b" ", b"{", b"}", b"[]", b"[{}]", b"null", b"42", b"true", b'"text"', b"NaN", b"-Infinity", b"{'a': 1}",
    b"\xff\xfe", b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', b"\x00", b'{"a": "\\ud800"}', b'{"id": "\\udfff"}',
    DEEP.encode(), b'{"a":' * 5000 + b"1" + b"}" * 5000, b'{"id": ' + HUGE.encode() + b"}", b'{"a": 1e999999}',
    b'{"jsonrpc": "2.0", "method": "GetTask"', b"\xef\xbb\xbf{}", b'{"a": 1, "a": 2}', b"// {}", b"<xml/>",
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"GetTask","params":{"id":"x"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"\\ud800","params":{}}', b'"' + b'\\"' * 100_000,
)  # fmt: skip

OPERATIONS = (
    "SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask",
    "CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig", "GetExtendedAgentCard",
    "message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe",
    "tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get", "agent/getAuthenticatedExtendedCard",
)  # fmt: skip

BAD_PARAMS: tuple[Any, ...] = (
    None, [], "x", {"id": {}}, {"id": ""}, {"id": "\x00"}, {"message": []}, {"message": {}}
)  # fmt: skip

GOOD_PART = {"text": "hi"}
GOOD_MESSAGE: dict[str, Any] = {"messageId": "m", "role": "ROLE_USER", "parts": [GOOD_PART]}

BAD_PARTS: tuple[Any, ...] = (
    {}, {"text": 5}, {"text": ""}, {"text": "a\x00b"}, {"raw": "***"}, {"raw": "abc"[:1]}, {"url": ""}, {"url": 3},
    {"text": "a", "data": {}}, {"unknown": 1}, {"raw": {}}, {"metadata": []}, {"text": "a", "mediaType": 4}, None, 7, "t",
)  # fmt: skip

QUERIES = (
    "status=FOO", "status=", "status=-1", "pageSize=-1", "pageSize=0", "pageSize=101", "pageSize=abc", f"pageSize={HUGE}",
    f"pageSize={2**40}", "pageToken=junk", "pageToken=%00", "pageToken=eyJ0cyI6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTksImlkIjoieCJ9",
    "historyLength=-1", "historyLength=x", f"historyLength={HUGE}", "contextId=%00", "contextId=%ff", "includeArtifacts=maybe",
    "statusTimestampAfter=yesterday", "statusTimestampAfter=9999-99-99T00:00:00Z", "tenant=x&tenant=y", "a=b", "=",
    "%zz=%zz", "statusTimestampAfter=", "pageSize=1.5", "pageSize=1&pageSize=x", "status=5&status=FOO",
)  # fmt: skip


@dataclass(frozen=True)
class Bad:
    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))


def all_bad_inputs() -> list[Bad]:
    return [*_raw(), *_envelopes(), *_params(), *_parts(), *_queries(), *_paths(), *_headers()]


def _raw() -> Iterator[Bad]:
    for path in ("/", "/rest/message:send", "/rest/message:stream", "/rest/v1/message:send"):
        for body in RAW_BODIES:
            yield Bad("POST", path, body)


def _rpc(body: Any) -> Bad:
    return Bad("POST", "/", json.dumps(body).encode())


def _envelopes() -> Iterator[Bad]:
    good = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}
    for key in good:
        yield _rpc({name: value for name, value in good.items() if name != key})
        for value in WRONG_VALUES:
            yield _rpc({**good, key: value})
    yield _rpc([good, good])
    yield _rpc({**good, "method": "NoSuch"})
    yield _rpc({**good, "jsonrpc": "1.0"})


def _params() -> Iterator[Bad]:
    for method in OPERATIONS:
        for value in BAD_PARAMS:
            bad = _rpc({"jsonrpc": "2.0", "id": 1, "method": method, "params": value})
            yield bad
            if "/" in method:
                yield Bad("POST", "/", bad.body, {**JSON, "A2A-Version": "0.3"})
    for name in ("pageSize", "pageToken", "historyLength", "status", "contextId", "tenant"):
        for value in WRONG_VALUES:
            yield _rpc({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {name: value}})


def _parts() -> Iterator[Bad]:
    bad_messages = [{**GOOD_MESSAGE, "parts": [part]} for part in BAD_PARTS]
    bad_messages += [{**GOOD_MESSAGE, name: value} for name in GOOD_MESSAGE for value in WRONG_VALUES]
    bad_messages += [{**GOOD_MESSAGE, name: "x" * 500} for name in ("messageId", "contextId", "taskId")]
    bad_messages += [{**GOOD_MESSAGE, "role": role} for role in ("ROLE_AGENT", "ROLE_FOO", "user", 9)]
    for bad in bad_messages:
        yield _rpc({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": bad}})
        yield Bad("POST", "/rest/message:send", json.dumps({"message": bad}).encode())
        yield Bad(
            "POST",
            "/rest/v1/message:send",
            json.dumps({"message": bad}).encode(),
            {**JSON, "A2A-Version": "0.3"},
        )


def _queries() -> Iterator[Bad]:
    for query in QUERIES:
        yield Bad("GET", f"/rest/tasks?{query}", headers={})
        yield Bad("GET", f"/rest/tasks/nope?{query}", headers={})


def _paths() -> Iterator[Bad]:
    for path in (
        "/nope",
        "/rest",
        "/rest/",
        "/rest/nope",
        "/rest/a/b/c/d",
        "/rest/tasks/",
        "/rest/tasks/%00",
        "/%ff",
        "/rest/%2e%2e",
    ):
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            yield Bad(method, path)
    for method in ("GET", "PUT", "DELETE"):
        yield Bad(method, "/")
        yield Bad(method, "/rest/message:send")


def _headers() -> Iterator[Bad]:
    good = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}).encode()
    for value in (
        "text/plain",
        "",
        "application/json; charset=utf-16",
        "multipart/form-data",
        ";;;",
        "application/xml",
    ):
        yield Bad("POST", "/", good, {"Content-Type": value})
    for value in ("9.9", "abc", "1.1", "2.0", "-1", "1.0.0.0.0", "1.0, 0.3"):
        yield Bad("POST", "/", good, {**JSON, "A2A-Version": value})
        yield Bad("GET", "/rest/tasks", b"", {"A2A-Version": value})
    for value in ("evil.example", "127.0.0.1@evil.example", "[::1", "", "a" * 5000):
        yield Bad("POST", "/", good, {**JSON, "Host": value})
    for value in ("http://evil.example", "null", "http://[", "file:///"):
        yield Bad("POST", "/", good, {**JSON, "Origin": value})
