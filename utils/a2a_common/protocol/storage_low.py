"""`StorageLow`: a message is too large for what is left of the disk."""

from __future__ import annotations

from utils.errors import RetryLater


class StorageLow(RetryLater):
    """There is less room on the disk than `DISK_RESERVE_MB`, and the message is too large for what is left."""

    code = "storage_low"
    sentence = (
        "The disk is nearly full, so only short messages are taken. Send a shorter one, or try again later."
    )
