"""HTTP+JSON of protocol 0.3, with errors of a stream told instead of the line cut off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

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

Method = Callable[[Request, ServerCallContext], Any]


class LegacyRest(REST03Adapter):
    """Answers an error before the first event with its status, and a later one with an `error` event.

    The SDK raises both out of a response that has begun: the client sees a broken connection.
    """

    @rest_stream_error_handler
    async def _handle_streaming_request(self, method: Method, request: Request) -> Response:
        stream = aiter(method(request, self._context_builder.build(request)))
        first = await anext(stream, None)
        return create_event_source_response(
            _events(first, stream), shutdown_grace_period=self._shutdown_grace_period
        )


def legacy_routes(
    handler: RequestHandler, builder: ServerCallContextBuilder, grace: float
) -> list[BaseRoute]:
    """The routes under `/v1`; `grace` is seconds that open streams get at shutdown."""
    adapter = LegacyRest(handler, builder, grace)
    endpoints: dict[tuple[str, str], Callable[[Request], Awaitable[Response]]] = adapter.routes()
    return [Route(path, endpoint, methods=[method]) for (path, method), endpoint in endpoints.items()]


async def _events(first: Any, rest: AsyncIterator[Any]) -> AsyncIterator[ServerSentEvent]:
    if first is None:
        return
    yield ServerSentEvent(data=json_utils.dumps(first))
    try:
        async for event in rest:
            yield ServerSentEvent(data=json_utils.dumps(event))
    except A2AError as error:  # what is no such error was made one by the safe handler
        yield ServerSentEvent(data=json_utils.dumps(build_rest_error_payload(error)), event="error")
