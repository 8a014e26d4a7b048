"""What is refused before an agent hears of it, and how."""

import gzip
import json

import pytest

from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving
from utils.a2a_common.protocol.readiness import Readiness

JSON = {**HEADERS, "Content-Type": "application/json"}
SEND = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message()}}


@pytest.fixture
async def wire():
    async with serving(echo, settings={"MAX_BODY_BYTES": "100000"}) as wire:
        yield wire


async def post(wire: Wire, path: str, body: bytes | str, headers=JSON):
    content = body.encode() if isinstance(body, str) else body
    return await wire.http.post(wire.url + path, content=content, headers=headers)


async def test_a_body_over_the_limit_is_refused_with_413(wire):
    large = json.dumps({"message": message("x" * 200_000)})
    for path in ("/", "/rest/message:send"):
        answer = await post(wire, path, large)
        assert answer.status_code == 413
        assert "100000 bytes" in answer.json()["error"]["message"]

    async def without_length():
        for _ in range(300):
            yield b"x" * 1000

    answer = await wire.http.post(f"{wire.url}/", content=without_length(), headers=JSON)
    assert answer.status_code == 413


async def test_a_body_that_is_not_declared_as_json_is_refused_with_415(wire):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"):
        for path in ("/", "/rest/message:send"):
            answer = await post(wire, path, json.dumps(SEND), {**HEADERS, "Content-Type": kind})
            assert answer.status_code == 415
    for kind in ("application/json", "application/a2a+json; charset=utf-8"):
        answer = await post(wire, "/", json.dumps(SEND), {**HEADERS, "Content-Type": kind})
        assert "result" in answer.json()


async def test_a_packed_body_is_refused_with_415_and_what_is_taken(wire):
    for path in ("/", "/rest/message:send"):
        packed = gzip.compress(json.dumps(SEND).encode())
        answer = await post(wire, path, packed, {**JSON, "Content-Encoding": "gzip"})
        assert (answer.status_code, answer.headers["Accept-Encoding"]) == (415, "identity")
        assert answer.json()["error"]["message"] == "Send the body as it is: no Content-Encoding is taken."
    answer = await post(wire, "/", json.dumps(SEND), {**JSON, "Content-Encoding": "identity"})
    assert "result" in answer.json()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
        (b"[" * 100_00, -32602),
        (b'{"a":' * 65 + b"1" + b"}" * 65, -32602),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "GetTask"}', -32602),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "GetTask"}', -32700),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "GetTask"}', -32700),
        (b"{", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "id": 2}', -32700),
        (b'{"message": {"parts": [], "parts": [{"text": "hi"}]}}', -32700),
    ],
)
async def test_a_malformed_body_is_refused_before_it_is_parsed(wire, body, code):
    rpc = await post(wire, "/", body)
    assert (rpc.status_code, rpc.json()["error"]["code"]) == (200, code)
    rest = await post(wire, "/rest/message:send", body)
    assert (rest.status_code, rest.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


GET = {"jsonrpc": "2.0", "id": 7, "method": "GetTask", "params": {"id": "x"}}


@pytest.mark.parametrize(
    ("body", "code", "rpc_id", "told"),
    [
        (b"", -32700, None, "The body is empty: send a JSON-RPC request."),
        ([], -32600, None, "Send one request as an object: batches are not supported."),
        ([GET], -32600, None, "Send one request as an object: batches are not supported."),
        (1, -32600, None, "A JSON-RPC request is an object."),
        (None, -32600, None, "A JSON-RPC request is an object."),
        ({}, -32600, None, 'The member "jsonrpc" must be "2.0".'),
        (GET | {"jsonrpc": 2}, -32600, 7, 'The member "jsonrpc" must be "2.0".'),
        (GET | {"method": None}, -32600, 7, 'The member "method" must name an operation, such as SendMessage.'),
        ({"jsonrpc": "2.0", "id": 7}, -32600, 7, 'The member "method" must name an operation, such as SendMessage.'),
        (GET | {"method": "rpc.x"}, -32600, 7, 'The member "method" must name an operation, such as SendMessage.'),
        (GET | {"id": 1.5}, -32600, None, 'The member "id" must be a string or an integer.'),
        (GET | {"id": True}, -32600, None, 'The member "id" must be a string or an integer.'),
        (GET | {"more": 1}, -32600, 7, "A JSON-RPC request has no members but jsonrpc, id, method and params."),
    ],
    ids=repr,
)  # fmt: skip
async def test_what_is_no_json_rpc_request_is_answered_with_a_sentence(wire, body, code, rpc_id, told):
    content = body if isinstance(body, bytes) else json.dumps(body)
    answer = await post(wire, "/", content)
    error = {"code": code, "message": told}
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": rpc_id, "error": error})


async def test_brackets_inside_strings_are_not_nesting(wire):
    text = '[[[["\\' * 200
    answer = await wire.send(text=text)
    assert answer["artifacts"][0]["parts"] == [{"text": text}]


@pytest.mark.parametrize(
    "part",
    [{}, {"text": ""}, {"text": "a\x00b"}, {"raw": "not base64!"}, {"raw": "QUJD="[:3] + "*"}, {"url": ""}],
)
async def test_a_part_without_usable_content_is_refused(wire, part):
    refused = await wire.send(parts=[{"text": "hi"}, part])
    assert refused["error"]["code"] == -32602
    assert wire.agent.seen == []


@pytest.mark.parametrize(
    "texts", [[" \n\t "], ["\u00a0\u200b"], [" ", "\n"]], ids=["spaces", "invisible", "two parts"]
)
async def test_a_message_in_which_nothing_is_to_be_seen_is_refused(wire, texts):
    refused = await wire.send(parts=[{"text": text} for text in texts])
    assert refused["error"]["code"] == -32602
    assert refused["error"]["message"] == "message holds only white space or invisible characters."
    rest = await post(wire, "/rest/message:send", json.dumps({"message": message(texts[0])}))
    assert (rest.status_code, rest.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert wire.agent.seen == []


async def test_a_blank_text_may_stand_beside_another_part(wire):
    for other in ({"text": "hi"}, {"data": {"a": 1}}):
        answer = await wire.send(parts=[{"text": " \n"}, other])
        assert "error" not in answer


async def test_good_base64_passes_in_both_alphabets():
    async with serving(echo, takes_files=True) as wire:
        for raw in ("QUJD", "_-8=", "+/8", ""):
            parts = [{"text": "hi"}, {"raw": raw, "mediaType": "text/plain"}]
            answer = await wire.send(parts=parts)
            assert ("error" in answer) == (raw == "")


async def test_an_unsupported_media_type_is_refused(wire):
    refused = await wire.send(parts=[{"raw": "QUJD", "mediaType": "image/png"}])
    assert refused["error"]["code"] == -32005


async def test_ids_beyond_128_characters_are_refused(wire):
    for name in ("messageId", "contextId", "taskId"):
        assert (await wire.send(**{name: "x" * 129}))["error"]["code"] == -32602
    assert (await wire.send(contextId="x" * 128))["contextId"] == "x" * 128


async def test_a_message_that_claims_to_be_the_agents_is_refused(wire):
    assert (await wire.send(role="ROLE_AGENT"))["error"]["code"] == -32602


async def test_a_notification_is_refused_and_not_run_unseen(wire):
    answer = await post(wire, "/", json.dumps({name: value for name, value in SEND.items() if name != "id"}))
    assert answer.json()["error"]["code"] == -32600
    assert answer.json()["id"] is None
    assert wire.agent.seen == []


async def test_a_batch_is_refused(wire):
    answer = await post(wire, "/", json.dumps([SEND, SEND]))
    assert answer.json()["error"]["code"] == -32600
    assert wire.agent.seen == []


async def test_unknown_paths_and_methods_are_answered_in_json(wire):
    for method, path, status in [
        ("GET", "/nope", 404),
        ("POST", "/rest/nope", 404),
        ("PUT", "/rest/tasks", 405),
        ("PUT", "/rest/tasks/some", 405),
        ("GET", "/rest/message:send", 405),
        ("GET", "/", 405),
        ("DELETE", "/healthz", 405),
    ]:
        answer = await wire.http.request(method, wire.url + path)
        assert answer.status_code == status, path
        assert answer.json()["error"]["code"] == status


async def test_a_trailing_slash_is_served_and_not_redirected(wire):
    body = json.dumps({"message": message()})
    for path in ("/rest/message:send/", "/rest/tenant/message:send/"):
        answer = await post(wire, path, body)
        assert answer.json()["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert (await wire.http.get(f"{wire.url}/healthz/")).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "127.0.0.1@evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:1234", "Origin": "http://localhost:3000"}, 200),
        ({"Host": "[::1]:80"}, 200),
    ],
)
async def test_another_host_or_origin_is_refused(wire, headers, status):
    answer = await post(wire, "/", json.dumps(SEND), {**JSON, **headers})
    assert answer.status_code == status
    assert bool(wire.agent.seen) == (status == 200)


async def test_the_public_url_and_the_allowed_hosts_are_accepted():
    settings = {"PUBLIC_URL": "https://agents.example:8443/rag", "ALLOWED_HOSTS": "rag.internal, other"}
    async with serving(echo, settings=settings) as wire:
        for host, status in [("agents.example", 200), ("rag.internal:80", 200), ("third.example", 421)]:
            answer = await post(wire, "/", json.dumps(SEND), {**JSON, "Host": host})
            assert answer.status_code == status
    async with serving(echo, settings={"ALLOWED_HOSTS": "*"}) as wire:
        assert (await post(wire, "/", json.dumps(SEND), {**JSON, "Host": "any.example"})).status_code == 200


async def test_probes_tell_alive_and_ready_apart():
    state = Readiness(ready=False, detail="The index is loading.")

    async def readiness() -> Readiness:
        return state

    async with serving(echo, readiness=readiness) as wire:
        assert (await wire.http.get(f"{wire.url}/healthz")).status_code == 200
        answer = await wire.http.get(f"{wire.url}/readyz", headers={"Host": "10.1.2.3:8000"})
        assert (answer.status_code, answer.json()["detail"]) == (503, "The index is loading.")
        state = Readiness(ready=True)
        assert (await wire.http.get(f"{wire.url}/readyz")).status_code == 200


async def test_a_broken_readiness_check_is_not_ready_and_says_nothing_of_why():
    async def readiness() -> Readiness:
        raise RuntimeError("secret")

    async with serving(echo, readiness=readiness) as wire:
        answer = await wire.http.get(f"{wire.url}/readyz")
        assert answer.status_code == 503
        assert "secret" not in answer.text


async def test_the_card_is_cached_and_revalidated(wire):
    for path in ("/.well-known/agent-card.json", "/.well-known/agent.json"):
        first = await wire.http.get(wire.url + path)
        assert first.json()["name"] == "Echo"
        assert "max-age" in first.headers["cache-control"]
        again = await wire.http.get(wire.url + path, headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304


@pytest.mark.parametrize("member", [{"jsonrpc": "1.0"}, {"jsonrpc": 2}, {}])
@pytest.mark.parametrize("method", ["message/send", "SendMessage"])
async def test_another_version_of_json_rpc_is_an_invalid_request(method, member):
    async with serving(echo) as wire:
        headers = {} if method == "message/send" else HEADERS
        body = {**member, "id": 1, "method": method, "params": {}}
        answer = await wire.http.post(f"{wire.url}/", json=body, headers=headers)
    assert answer.json()["error"]["code"] == -32600
