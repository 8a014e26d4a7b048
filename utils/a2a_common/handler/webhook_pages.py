"""Pagination of ListTaskPushNotificationConfigs, and the default configuration of a task."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from a2a.types.a2a_pb2 import (
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError


def page_of(
    configs: Sequence[TaskPushNotificationConfig], params: ListTaskPushNotificationConfigsRequest
) -> ListTaskPushNotificationConfigsResponse:
    """The requested page, ordered by id; all remaining ones if the request names no size.

    A token names the last id of the page before, so that it stays valid at every replica, after a restart, and where that
    configuration is deleted meanwhile.

    Raises:
        InvalidParamsError: The size of the page is negative, or its token is not valid.
    """
    if params.page_size < 0:
        raise InvalidParamsError("pageSize is negative.")
    after = _id_in(params.page_token)
    left = sorted((each for each in configs if each.id > after), key=lambda each: each.id)
    shown = left[: params.page_size or None]
    token = _token_of(shown[-1].id) if len(left) > len(shown) else ""
    return ListTaskPushNotificationConfigsResponse(configs=shown, next_page_token=token)


def _token_of(last: str) -> str:
    return base64.urlsafe_b64encode(last.encode()).decode()


def _id_in(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except ValueError:
        raise InvalidParamsError("The page token is not valid.") from None


def default_of(configs: Sequence[TaskPushNotificationConfig], task_id: str) -> TaskPushNotificationConfig:
    """The configuration for a request that names none: the one that was set without an id, otherwise the first of the list.

    Raises:
        TaskNotFoundError: There is none.
    """
    for config in configs:
        if config.id == task_id:  # the SDK's default id
            return config
    if not configs:
        raise TaskNotFoundError
    return configs[0]
