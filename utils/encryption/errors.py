"""Why something that is stored encrypted cannot be read."""

from __future__ import annotations

from utils.errors import StorageAway, StorageError


class StorageUnreadable(StorageError):
    """What is stored is encrypted and cannot be decrypted."""

    retryable = False


class StorageKeyMissing(StorageUnreadable):
    """What is stored was encrypted with a key that this process was not given."""

    code = "storage_key_missing"
    sentence = (
        "What is needed cannot be read: it was encrypted with a key that this agent does not have any more. "
        "Its operator can see in the log which setting names the keys."
    )


class KeysOutdated(StorageAway):
    """The other replicas store what this process has no key for: it was not started again since they got new keys."""

    code = "storage_keys_outdated"
    sentence = (
        "The agent is being given new encryption keys, and this process of it does not have them yet. "
        "Try again: another process takes your request."
    )


class StorageMisplaced(StorageUnreadable):
    """What is stored was encrypted for another row or another owner than those where it was found."""

    code = "storage_misplaced"
    sentence = (
        "What is needed is not shown: it was stored for another place than the one where it was found. Somebody changed what "
        "this agent stores. Its operator can see in the log where."
    )
