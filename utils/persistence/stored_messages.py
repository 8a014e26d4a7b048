"""The messages of a conversation, each stored once and referenced by its checkpoints. Pure.

A checkpoint references its messages by digests, which are appended to the type of the value in its row. To delete messages that
no checkpoint references any more, only that column is read: neither a key nor the value is needed.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Send

from utils.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

KIND = "messages."
"""Prefix of the type of a value that references messages: a version that does not know it refuses the value."""

SALT = ""
"""In place of a digest: the row with the salt of the conversation's digests."""

DEEPEST = 8
"""How deep in a value messages are searched: those of a state that is sent to a node are at 6. Deeper ones stay in the value."""

_SALT_BYTES = 32
_DIGEST_BYTES = 12  # 96 bits: a collision within a conversation is likely after 10^14 messages
_DIGEST_LETTERS = 16
_MARK_BYTES = 8
_NUMBER_BYTES = 4

LOST = "A message of this conversation is missing in the storage. Start a new conversation."


def names(kind: str) -> set[str]:
    """The digests in the type of a stored value."""
    return set(_digests(kind)) if kind.startswith(KIND) else set()


def has_messages(value: Any, deep: int = DEEPEST + 1) -> bool:
    """Whether a value contains messages."""
    if isinstance(value, BaseMessage) or deep == 0:
        return isinstance(value, BaseMessage)
    kind = type(value)
    if kind is Send:
        return has_messages(value.arg, deep - 1)
    inner = value.values() if kind is dict else value if kind in (list, tuple) else ()
    return any(has_messages(each, deep - 1) for each in inner)


class StoredMessages:
    """The stored messages of one conversation, for one operation on its checkpoints.

    Args:
        salt: Salt of its digests; a new one is generated if omitted.
        stored: Digests of the stored messages.
        body: Reads a message by its digest.

    Attributes:
        salt: Salt of the digests. Without it, a digest reveals neither the content of a message, nor that two conversations
            contain the same message.
        stored: As given.
        new: Messages to store, by digest.
        salted: Whether the salt is new.
    """

    def __init__(
        self,
        salt: bytes | None = None,
        stored: Collection[str] = (),
        body: Callable[[str], bytes | None] = lambda _: None,
    ) -> None:
        self.salted = salt is None
        self.salt = salt or secrets.token_bytes(_SALT_BYTES)
        self.stored = stored
        self.new: dict[str, bytes] = {}
        self._body = body

    def put(self, body: bytes) -> str:
        """The digest of a message, which is added to `new` unless it is stored already."""
        raw = blake2b(body, digest_size=_DIGEST_BYTES, key=self.salt).digest()
        digest = urlsafe_b64encode(raw).decode("ascii")
        if digest not in self.stored:
            self.new[digest] = body
        return digest

    def rows(self) -> dict[str, bytes]:
        """What is to be stored, by digest: new messages, and the salt if it is new."""
        return self.new | ({SALT: self.salt} if self.new and self.salted else {})

    def get(self, digest: str) -> bytes:
        """A message.

        Raises:
            StorageError: It is missing.
        """
        body = self.new.get(digest) or self._body(
            digest
        )  # LangGraph serialises values of an old format again when it reads them
        if body is None:
            raise StorageError(LOST)
        return body


class MessageSerializer(SerializerProtocol):
    """Serialises a value with references in place of its messages, and restores them.

    Args:
        inner: Serialises messages, and the rest of a value.
        messages: Stores the messages.
    """

    def __init__(self, inner: SerializerProtocol, messages: StoredMessages) -> None:
        self._inner = inner
        self._stored = messages

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The type and the bytes of a value; its messages are stored separately."""
        references = _ReferenceWriter(self._message)
        kind, stored = self._inner.dumps_typed(references.value(obj, DEEPEST))
        if not references.digests:
            return kind, stored
        return f"{KIND}{references.mark.hex()}.{''.join(references.digests)}.{kind}", stored

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value, with its messages."""
        kind, stored = data
        if not kind.startswith(KIND):
            return self._inner.loads_typed(data)
        _, mark, _, inner = kind.split(".", 3)
        value = self._inner.loads_typed((inner, stored))
        return _ReferenceReader(bytes.fromhex(mark), _digests(kind), self._read).value(value, DEEPEST)

    def _message(self, message: BaseMessage) -> str | None:
        kind, body = self._inner.dumps_typed(message)
        return self._stored.put(body) if kind == _MESSAGE else None

    def _read(self, digest: str) -> Any:
        return self._inner.loads_typed((_MESSAGE, self._stored.get(digest)))


_MESSAGE = "msgpack"
"""How LangGraph serialises a message."""


def _digests(kind: str) -> list[str]:
    letters = kind.split(".", 3)[2]
    return [letters[at : at + _DIGEST_LETTERS] for at in range(0, len(letters), _DIGEST_LETTERS)]


class _ReferenceWriter:
    """Replaces messages by references.

    A reference consists of `mark`, the number of the first digest, and the number of consecutive messages in a list. The mark is
    random, so nothing in the value can look like a reference.

    Attributes:
        mark: Prefix of each reference.
        digests: Digests of the messages, in order.
    """

    def __init__(self, store: Callable[[BaseMessage], str | None]) -> None:
        self.mark = secrets.token_bytes(_MARK_BYTES)
        self.digests: list[str] = []
        self._store = store

    def value(self, value: Any, deep: int) -> Any:
        """The value without messages; the same object if it has none. The value itself is not changed."""
        if isinstance(value, BaseMessage):
            return self._reference(len(self.digests) - 1, 1) if self._taken(value) else value
        if deep == 0:
            return value
        kind = type(value)
        if kind is dict:
            return _same({key: self.value(each, deep - 1) for key, each in value.items()}, value)
        if kind is list or kind is tuple:
            return self._items(value, deep - 1)
        if kind is Send:
            arg = self.value(value.arg, deep - 1)
            return value if arg is value.arg else Send(value.node, arg, timeout=value.timeout)
        return value

    def _items(self, items: Any, deep: int) -> Any:
        left: list[Any] = []
        following = 0  # consecutive messages, which share one reference
        for item in items:
            if isinstance(item, BaseMessage) and self._taken(item):
                following += 1
                continue
            left += self._references(following)
            following = 0
            left.append(self.value(item, deep))
        left += self._references(following)
        same = len(left) == len(items) and all(a is b for a, b in zip(left, items, strict=True))
        return items if same else left

    def _references(self, following: int) -> list[bytes]:
        return [self._reference(len(self.digests) - following, following)] if following else []

    def _taken(self, message: BaseMessage) -> bool:
        digest = self._store(message)
        if digest is not None:
            self.digests.append(digest)
        return digest is not None

    def _reference(self, first: int, count: int) -> bytes:
        return self.mark + first.to_bytes(_NUMBER_BYTES) + count.to_bytes(_NUMBER_BYTES)


class _ReferenceReader:
    """Replaces references by messages, in place: the value must not be used elsewhere."""

    def __init__(self, mark: bytes, digests: list[str], read: Callable[[str], Any]) -> None:
        self._mark = mark
        self._digests = digests
        self._read = read

    def value(self, value: Any, deep: int) -> Any:
        """The value with its messages."""
        kind = type(value)
        if kind is bytes and value.startswith(self._mark):
            return self._messages(value)[0]
        if deep == 0:
            return value
        if kind is dict:
            for key, each in value.items():
                value[key] = self.value(each, deep - 1)
        elif kind is list:
            value[:] = [one for each in value for one in self._item(each, deep - 1)]
        elif kind is Send:
            value.arg = self.value(value.arg, deep - 1)
        return value

    def _item(self, item: Any, deep: int) -> Iterable[Any]:
        if type(item) is bytes and item.startswith(self._mark):
            return self._messages(item)
        return (self.value(item, deep),)

    def _messages(self, reference: bytes) -> list[Any]:
        numbers = reference[len(self._mark) :]
        first, count = (int.from_bytes(numbers[at : at + _NUMBER_BYTES]) for at in (0, _NUMBER_BYTES))
        return [self._read(digest) for digest in self._digests[first : first + count]]


def _same(new: dict[Any, Any], old: dict[Any, Any]) -> dict[Any, Any]:
    return old if all(new[key] is old[key] for key in old) else new
