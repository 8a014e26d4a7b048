"""The operations on push notification configurations, and the rules for storing one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from a2a.server.context import ServerCallContext
from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types.a2a_pb2 import (
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    SendMessageConfiguration,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError

from utils.a2a_common.handler.webhook_pages import page_of
from utils.a2a_common.handler.webhook_rules import check_headers
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.version import version_of
from utils.a2a_common.tasks.log import TaskLog

UrlRule = Callable[[str], Awaitable[None]]
"""Raises `InvalidParamsError` for the URL of a webhook that may not be called."""


MOST_WEBHOOKS = 20
"""Webhooks of one task: a request to each goes out with every event."""


class PushConfigStore(Protocol):
    """Stores the webhooks of tasks. Each belongs to the owner of its task."""

    async def put(
        self, task_id: str, owner: str, config: TaskPushNotificationConfig, *, after: int, version: str
    ) -> TaskPushNotificationConfig:
        """Store a configuration, in the place of one with the same id; events up to `after` are not sent.

        Its notifications use the protocol's `version`.

        Raises:
            StorageError: It cannot be written; it is not in use then.
        """

    async def delete(self, task_id: str, owner: str, config_id: str) -> None:
        """Forget a configuration.

        Raises:
            StorageError: It cannot be written.
        """

    def of_task(self, task_id: str, owner: str) -> Sequence[TaskPushNotificationConfig]:
        """The configurations of the owner's task."""


class Pushes(Protocol):
    """Sends the events of tasks to their webhooks."""

    def follow(self, task_id: str, owner: str, *, after: int | None = None) -> None:
        """Send the events of a running task to its webhooks, each from its last sent event, or from `after`."""


class Webhooks:
    """The operations of a caller on the webhooks of a task.

    Args:
        log: The tasks.
        configs: The stored configurations.
        pushes: Sends the events.
        url_rule: Which URLs may be called.
    """

    def __init__(self, log: TaskLog, configs: PushConfigStore, pushes: Pushes, url_rule: UrlRule) -> None:
        self._log = log
        self._configs = configs
        self._pushes = pushes
        self._url_rule = url_rule

    async def check(
        self, configuration: SendMessageConfiguration, task_id: str, call: ServerCallContext
    ) -> None:
        """Look at the webhook that comes with a message, before its turn is submitted.

        Raises:
            InvalidParamsError: Its URL may not be called, its token or credentials cannot be sent, or its task has too many.
        """
        if configuration.HasField("task_push_notification_config"):
            await self._check(configuration.task_push_notification_config, task_id, owner_of(call))

    async def _check(self, config: TaskPushNotificationConfig, task_id: str, owner: str) -> None:
        others = {each.id for each in self._configs.of_task(task_id, owner)}
        others.discard(normalize_push_notification_config(task_id, config).id)
        if len(others) >= MOST_WEBHOOKS:
            raise InvalidParamsError(
                f"A task takes up to {MOST_WEBHOOKS} webhooks. Delete one of them first."
            )
        check_headers(config)
        await self._url_rule(config.url)

    async def store(
        self, configuration: SendMessageConfiguration, task_id: str, call: ServerCallContext, *, after: int
    ) -> None:
        """Store the webhook that came with a message whose turn was accepted, and send the events past `after`.

        It is stored after that, so that a refused turn leaves nothing to undo: the same message may have been accepted in
        another process meanwhile.

        Raises:
            StorageError: It cannot be written. The same message, sent again, stores it.
        """
        owner = owner_of(call)
        if configuration.HasField("task_push_notification_config"):
            given = configuration.task_push_notification_config
            await self._configs.put(task_id, owner, given, after=after, version=version_of(call))
        self._pushes.follow(task_id, owner, after=after)

    async def add(
        self, configuration: SendMessageConfiguration, task_id: str, call: ServerCallContext, *, after: int
    ) -> None:
        """Store the webhook of a repeated message if its task does not have it yet; events after `after` are sent to it.

        Raises:
            InvalidParamsError: Its URL may not be called, or its token or credentials cannot be sent.
            StorageError: It cannot be written.
        """
        given = configuration.task_push_notification_config
        if not given.url:
            return
        owner = owner_of(call)
        name = normalize_push_notification_config(task_id, given).id
        if name in {each.id for each in self._configs.of_task(task_id, owner)}:
            self._pushes.follow(task_id, owner, after=after)  # the client that stored it may be gone
        else:
            await self.check(configuration, task_id, call)
            await self.store(configuration, task_id, call, after=after)

    async def create(
        self, params: TaskPushNotificationConfig, call: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Store a webhook for what comes from now on.

        Raises:
            TaskNotFoundError: The caller has no such task.
            InvalidParamsError: Its URL may not be called, its token or credentials cannot be sent, or its task has too many.
        """
        owner = owner_of(call)
        snapshot = await self._log.snapshot(params.task_id, owner)
        if snapshot is None:
            raise TaskNotFoundError
        await self._check(params, params.task_id, owner)
        stored = await self._configs.put(
            params.task_id, owner, params, after=snapshot.sequence, version=version_of(call)
        )
        self._pushes.follow(params.task_id, owner)
        return stored

    async def get(self, task_id: str, config_id: str, call: ServerCallContext) -> TaskPushNotificationConfig:
        """One webhook of a task.

        Raises:
            TaskNotFoundError: The caller has no such task, or the task no such webhook.
        """
        for config in await self._of_task(task_id, call):
            if config.id == config_id:
                return config
        raise TaskNotFoundError

    async def list(
        self, params: ListTaskPushNotificationConfigsRequest, call: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """A page of the webhooks of a task.

        Raises:
            TaskNotFoundError: The caller has no such task.
            InvalidParamsError: The size of the page is negative, or its token is not valid.
        """
        return page_of(await self._of_task(params.task_id, call), params)

    async def _of_task(self, task_id: str, call: ServerCallContext) -> Sequence[TaskPushNotificationConfig]:
        """The webhooks of a task.

        Raises:
            TaskNotFoundError: The caller has no such task.
        """
        if await self._log.head(task_id, owner_of(call)) is None:
            raise TaskNotFoundError
        return self._configs.of_task(task_id, owner_of(call))

    async def delete(self, task_id: str, config_id: str, call: ServerCallContext) -> None:
        """Forget a webhook.

        Raises:
            TaskNotFoundError: The caller has no such task.
        """
        await self._of_task(task_id, call)
        await self._configs.delete(task_id, owner_of(call), config_id)
