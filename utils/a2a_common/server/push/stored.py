"""The stored form of a webhook: its configuration, and the protocol version that it is told in. Pure."""

from __future__ import annotations

from typing import Any

from a2a.types.a2a_pb2 import TaskPushNotificationConfig
from google.protobuf.unknown_fields import UnknownFieldSet

from utils.a2a_common.protocol.version import CURRENT, LEGACY

_LEGACY_FIELD = 1000
"""Number of a field that the protocol does not have. Whatever reads configurations passes over fields that it does not know, so that
a replica of an earlier version reads what a later one stores, and what was stored before this field is of the current protocol."""

_IS_LEGACY = b"\xc0\x3e\x01"
"""That field as a number with the value 1, as protocol buffers write it."""


def stored(config: TaskPushNotificationConfig, version: str) -> bytes:
    """What is stored of a webhook."""
    return config.SerializeToString() + (_IS_LEGACY if version == LEGACY else b"")


def restored(body: bytes) -> tuple[TaskPushNotificationConfig, str]:
    """The configuration and the protocol version of what was stored."""
    config = TaskPushNotificationConfig.FromString(body)
    unknown: Any = UnknownFieldSet(config)  # its types do not say that it is a sequence
    numbers = {field.field_number for field in unknown}
    config.DiscardUnknownFields()
    return config, LEGACY if _LEGACY_FIELD in numbers else CURRENT
