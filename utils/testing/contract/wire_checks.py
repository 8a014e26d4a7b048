"""How any A2A agent responds to invalid requests on its JSON-RPC interface."""

from __future__ import annotations

from typing import Any

from utils.testing.contract.session import Broken, Session, Skipped

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
PUSH_NOT_SUPPORTED, UNSUPPORTED, VERSION_NOT_SUPPORTED = -32003, -32004, -32009


async def malformed_json_is_a_parse_error(session: Session) -> None:
    """What is no JSON is refused as such."""
    _expect(await session.rpc(b'{"jsonrpc": "2.0", '), PARSE_ERROR)


async def unknown_method_is_not_found(session: Session) -> None:
    """An unknown method is reported as not found."""
    _expect(await session.method("NoSuchMethod", {}), METHOD_NOT_FOUND)


async def message_without_parts_is_refused(session: Session) -> None:
    """Parameters are validated before anything is done."""
    message = {"messageId": "conformance", "role": "ROLE_USER", "parts": []}
    _expect(await session.method("SendMessage", {"message": message}), INVALID_PARAMS)


async def unknown_version_is_refused(session: Session) -> None:
    """A request in an unknown version of the protocol is refused."""
    _expect(await session.method("GetTask", {"id": "nobody"}, version="99.0"), VERSION_NOT_SUPPORTED)


async def push_is_refused_where_not_declared(session: Session) -> None:
    """A feature that the card does not declare is refused with an error."""
    if session.card.capabilities.push_notifications:
        raise Skipped("the card declares push notifications")
    answer = await session.method("ListTaskPushNotificationConfigs", {"taskId": "nobody"})
    _expect(answer, PUSH_NOT_SUPPORTED)


async def streaming_is_refused_where_not_declared(session: Session) -> None:
    """A client that streams nevertheless gets an error."""
    if session.card.capabilities.streaming:
        raise Skipped("the card declares streaming")
    message = {"messageId": "conformance", "role": "ROLE_USER", "parts": [{"text": session.ask}]}
    _expect(await session.method("SendStreamingMessage", {"message": message}), UNSUPPORTED)


def _expect(answer: dict[str, Any], code: int) -> None:
    got = code_of(answer)
    if got is None:
        raise Broken(f"it was answered in place of error {code}")
    if got != code:
        raise Broken(f"error {got} in place of {code}")


def code_of(answer: dict[str, Any]) -> Any:
    """The code of an error; `None` for a result."""
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else None
