"""HTTP+JSON routes of protocol 0.3, whose streams end with an error event if they fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from a2a.compat.v0_3.context_builders import V03ServerCallContextBuilder
from a2a.compat.v0_3.rest_adapter import REST03Adapter
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.server.routes.common import ServerCallContextBuilder, create_event_source_response
from a2a.utils import json_utils
from a2a.utils.error_handlers import build_rest_error_payload, rest_stream_error_handler
from a2a.utils.errors import A2AError
from sse_starlette.event import ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from utils.a2a_common.server.legacy.rest_handler import LegacyRestHandler

Endpoint = Callable[[Request], Awaitable[Response]]
Method = Callable[[Request, ServerCallContext], Any]


def legacy_routes(
    handler: RequestHandler, builder: ServerCallContextBuilder, grace: float
) -> list[BaseRoute]:
    """The routes under `/v1`; `grace` is seconds that open streams get at shutdown."""
    adapter = REST03Adapter(handler, builder, grace)
    adapter.handler = LegacyRestHandler(handler)
    answer = partial(_stream, V03ServerCallContextBuilder(builder), grace)
    send = partial(answer, adapter.handler.on_message_send_stream)
    subscribe = partial(answer, adapter.handler.on_subscribe_to_task)
    endpoints: Mapping[tuple[str, str], Endpoint] = {
        **adapter.routes(),
        ("/v1/message:stream", "POST"): send,
        ("/v1/tasks/{id}:subscribe", "GET"): subscribe,
        ("/v1/tasks/{id}:subscribe", "POST"): subscribe,
    }
    return [Route(path, endpoint, methods=[method]) for (path, method), endpoint in endpoints.items()]


@rest_stream_error_handler
async def _stream(
    builder: V03ServerCallContextBuilder, grace: float, method: Method, request: Request
) -> Response:
    """Answer an error before the first event with its status, and a later one with an `error` event.

    The SDK's own endpoints raise both out of a response that has begun: the client sees a broken connection.
    """
    stream = aiter(method(request, builder.build(request)))
    first = await anext(stream, None)
    return create_event_source_response(_events(first, stream), shutdown_grace_period=grace)


async def _events(first: Any, rest: AsyncIterator[Any]) -> AsyncIterator[ServerSentEvent]:
    if first is None:
        return
    yield ServerSentEvent(data=json_utils.dumps(first))
    try:
        async for event in rest:
            yield ServerSentEvent(data=json_utils.dumps(event))
    except A2AError as error:  # the safe handler turns every exception into one
        yield ServerSentEvent(data=json_utils.dumps(build_rest_error_payload(error)), event="error")
