"""Wraps every operation of a request handler in `safe_errors`."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers import RequestHandler
from a2a.types import a2a_pb2 as pb

from utils.a2a_common.handler.message_rules import check_id
from utils.a2a_common.handler.safe_errors import guarded, guarded_stream


class SafeRequestHandler(RequestHandler):
    """Delegates to `inner`; a failure leaves as a protocol error without internal text."""

    def __init__(self, inner: RequestHandler) -> None:
        self._inner = inner

    async def on_get_task(self, params: pb.GetTaskRequest, context: ServerCallContext) -> pb.Task | None:
        """GetTask."""
        return await guarded(self._inner.on_get_task(params, _checked(context)))

    async def on_list_tasks(
        self, params: pb.ListTasksRequest, context: ServerCallContext
    ) -> pb.ListTasksResponse:
        """ListTasks."""
        return await guarded(self._inner.on_list_tasks(params, _checked(context)))

    async def on_cancel_task(
        self, params: pb.CancelTaskRequest, context: ServerCallContext
    ) -> pb.Task | None:
        """CancelTask."""
        return await guarded(self._inner.on_cancel_task(params, _checked(context)))

    async def on_message_send(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> pb.Task | pb.Message:
        """SendMessage."""
        return await guarded(self._inner.on_message_send(params, _checked(context)))

    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """SendStreamingMessage."""
        stream = self._inner.on_message_send_stream(params, _checked(context))
        async for event in guarded_stream(stream):
            yield event

    async def on_subscribe_to_task(
        self, params: pb.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """SubscribeToTask."""
        async for event in guarded_stream(self._inner.on_subscribe_to_task(params, _checked(context))):
            yield event

    async def on_create_task_push_notification_config(
        self, params: pb.TaskPushNotificationConfig, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """CreateTaskPushNotificationConfig."""
        return await guarded(self._inner.on_create_task_push_notification_config(params, _checked(context)))

    async def on_get_task_push_notification_config(
        self, params: pb.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """GetTaskPushNotificationConfig."""
        return await guarded(self._inner.on_get_task_push_notification_config(params, _checked(context)))

    async def on_list_task_push_notification_configs(
        self, params: pb.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> pb.ListTaskPushNotificationConfigsResponse:
        """ListTaskPushNotificationConfigs."""
        return await guarded(self._inner.on_list_task_push_notification_configs(params, _checked(context)))

    async def on_delete_task_push_notification_config(
        self, params: pb.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """DeleteTaskPushNotificationConfig."""
        await guarded(self._inner.on_delete_task_push_notification_config(params, _checked(context)))

    async def on_get_extended_agent_card(
        self, params: pb.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> pb.AgentCard:
        """GetExtendedAgentCard."""
        return await guarded(self._inner.on_get_extended_agent_card(params, _checked(context)))


def _checked(context: ServerCallContext) -> ServerCallContext:
    check_id("tenant", context.tenant)
    return context
