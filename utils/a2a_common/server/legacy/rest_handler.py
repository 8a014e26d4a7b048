"""Handler of the HTTP+JSON routes of protocol 0.3: accepts requests in the form of its `a2a.proto`, and in that of the Python SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from a2a.compat.v0_3 import a2a_v0_3_pb2 as pb
from a2a.compat.v0_3 import types
from a2a.compat.v0_3.proto_utils import TASK_PUSH_CONFIG_NAME_MATCH as CONFIG_NAME
from a2a.compat.v0_3.proto_utils import FromProto, ToProto
from a2a.compat.v0_3.rest_handler import REST03Handler
from a2a.server.context import ServerCallContext
from a2a.utils.constants import PROTOCOL_VERSION_0_3
from a2a.utils.errors import InvalidParamsError
from a2a.utils.version_validator import validate_version
from google.protobuf.json_format import MessageToDict, Parse
from google.protobuf.message import Message
from starlette.requests import Request

from utils.a2a_common.server.legacy.chunks import WholeAtEnd
from utils.a2a_common.server.legacy.files import FileForm

Json = dict[str, Any]

_DIGITS = 9
"""Digits of a number in a query: each such number has room in the protocol's 32 bits."""


class LegacyRestHandler(REST03Handler):
    """The SDK's handler, where that one changes files or takes only one of two forms."""

    @validate_version(PROTOCOL_VERSION_0_3)
    async def on_message_send(self, request: Request, context: ServerCallContext) -> Json:
        """Answer a message."""
        asked, form = await _sent(request)
        answer = await self.handler03.on_message_send(asked, context)
        return _json(form.written(ToProto.task_or_message(answer)))

    @validate_version(PROTOCOL_VERSION_0_3)
    async def on_message_send_stream(
        self, request: Request, context: ServerCallContext
    ) -> AsyncIterator[Json]:
        """Answer a message with its events."""
        (asked, form), chunks = await _sent(request), WholeAtEnd()
        async for event in self.handler03.on_message_send_stream(asked, context):
            yield _json(chunks.outgoing(form.written(ToProto.stream_response(event.result))))

    @validate_version(PROTOCOL_VERSION_0_3)
    async def on_subscribe_to_task(self, request: Request, context: ServerCallContext) -> AsyncIterator[Json]:
        """A task, and then its events."""
        form = _form(request.headers)
        asked = types.TaskResubscriptionRequest(
            id="", params=types.TaskIdParams(id=request.path_params["id"])
        )
        async for event in self.handler03.on_subscribe_to_task(asked, context):
            yield _json(form.written(ToProto.stream_response(event.result)))

    @validate_version(PROTOCOL_VERSION_0_3)
    async def on_cancel_task(self, request: Request, context: ServerCallContext) -> Json:
        """Cancel a task."""
        asked = types.CancelTaskRequest(id="", params=types.TaskIdParams(id=request.path_params["id"]))
        task = await self.handler03.on_cancel_task(asked, context)
        return _json(_form(request.headers).written(ToProto.task(task)))

    @validate_version(PROTOCOL_VERSION_0_3)
    async def on_get_task(self, request: Request, context: ServerCallContext) -> Json:
        """A task with its artifacts."""
        length = _number(request.query_params.get("historyLength", ""), "historyLength")
        params = types.TaskQueryParams(id=request.path_params["id"], history_length=length)
        task = await self.handler03.on_get_task(types.GetTaskRequest(id="", params=params), context)
        return _json(_form(request.headers).written(ToProto.task(task)))

    @validate_version(PROTOCOL_VERSION_0_3)
    async def set_push_notification(self, request: Request, context: ServerCallContext) -> Json:
        """Store a webhook of a task."""
        task_id = request.path_params["id"]
        webhook = FromProto.push_notification_config(await _webhook(request))
        params = types.TaskPushNotificationConfig(task_id=task_id, push_notification_config=webhook)
        asked = types.SetTaskPushNotificationConfigRequest(id="", params=params)
        stored = await self.handler03.on_create_task_push_notification_config(asked, context)
        return _json(ToProto.task_push_notification_config(stored))


async def _webhook(request: Request) -> pb.PushNotificationConfig:
    """The webhook in a request, whose body is the `config` of the protocol's message, or all of it, as Python's SDK sends.

    The task is the one in the path, whatever the body names.
    """
    body = await request.body()
    whole = Parse(body, pb.CreateTaskPushNotificationConfigRequest(), ignore_unknown_fields=True)
    config = (
        whole.config
        if whole.HasField("config")
        else Parse(body, pb.TaskPushNotificationConfig(), ignore_unknown_fields=True)
    )
    webhook: pb.PushNotificationConfig = config.push_notification_config
    named = CONFIG_NAME.match(config.name)
    webhook.id = (
        webhook.id
        or whole.config_id
        or request.query_params.get("configId", "")
        or (named[2] if named else "")
    )
    return webhook


async def _sent(request: Request) -> tuple[types.SendMessageRequest, FileForm]:
    """A message as the SDK's models have it, and how its call writes files."""
    asked = Parse(await request.body(), pb.SendMessageRequest(), ignore_unknown_fields=True)
    form = _form(request.headers).of_message(asked.request)
    form.read(asked.request)
    return types.SendMessageRequest(id="", params=FromProto.message_send_params(asked)), form


def _number(text: str, name: str) -> int | None:
    """The value of a query's number; `None` where it has none."""
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > _DIGITS:
        raise InvalidParamsError(f"{name} is no number of the protocol.")
    return int(text)


def _form(headers: Mapping[str, str]) -> FileForm:
    return FileForm.of(headers.get("user-agent", ""))


def _json(message: Message) -> Json:
    answer: Json = MessageToDict(message)
    return answer
