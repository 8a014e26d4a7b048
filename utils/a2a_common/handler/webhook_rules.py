"""Checks that notifications of a push notification configuration can be sent."""

from __future__ import annotations

import re

from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError

_SENT = re.compile(r"([\x21-\x7e]+([ \t]+[\x21-\x7e]+)*)?")
"""What a header may hold: visible ASCII, with spaces or tabs between."""


def check_headers(config: TaskPushNotificationConfig) -> None:
    """Refuse a configuration whose token or credentials no header can carry: nothing would ever be sent.

    The sentence names the field and does not repeat what it holds.

    Raises:
        InvalidParamsError: Names the field.
    """
    given = config.authentication
    sent = {
        "token": config.token,
        "authentication.scheme": given.scheme,
        "authentication.credentials": given.credentials,
    }
    for name, value in sent.items():
        if _SENT.fullmatch(value) is None:
            raise InvalidParamsError(
                f"The {name} of the push notification configuration cannot be sent in an HTTP header. "
                "Use visible ASCII characters, without a line break, and without a space at its start or end."
            )
