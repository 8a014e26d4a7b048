"""A conversation that only grows is repaired once: what was repaired before is not looked at again.

`Settled` is the beginning of a conversation in its repaired form. What is added later is repaired
by itself, where no result in it belongs to a call of the beginning, or the other way round; else the
whole is repaired anew. The result is the same either way, message by message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from utils.messages.calls import Names
from utils.messages.handles import full_output_of
from utils.messages.repair import Piece, closed, merge_system, opened, repair_piece
from utils.messages.transcript import with_ids


class Whole(NamedTuple):
    """A repaired conversation.

    Attributes:
        system: Its system messages in one, where it has any.
        talk: Everything else.
        settled: How many messages of `talk` are those of the settled beginning.
        interrupted: Ids of the calls that got a synthetic result.
        dropped: How many stray or duplicate results were left out.
    """

    system: list[SystemMessage]
    talk: list[BaseMessage]
    settled: int
    interrupted: tuple[str, ...]
    dropped: int


class Settled:
    """The repaired beginning of a conversation; empty at first.

    Attributes:
        count: How many messages of the conversation as given it stands for.
        talk: Those messages as repaired, without system messages.
        outputs: Handles of the texts that messages among them are a part of.
        characters: Their length, roughly.
    """

    def __init__(self) -> None:
        self.talk: list[BaseMessage] = []
        self.outputs: set[str] = set()
        self.characters = 0
        self._raw: list[BaseMessage] = []
        self._contents: list[Any] = []
        self._calls: list[tuple[AIMessage, list[Any]]] = []
        self._ids: list[str | None] = []
        self._named: set[str] = set()
        self._system: list[SystemMessage] = []
        self._taken: set[str] = set()
        self._called: set[str] = set()
        self._waiting: set[str] = set()
        self._interrupted: tuple[str, ...] = ()
        self._dropped = 0

    @property
    def count(self) -> int:
        """How many messages of the conversation as given this stands for."""
        return len(self._raw)

    def begins(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether the conversation begins with what was settled, unchanged.

        The same objects are found equal at once; that none was changed in place is seen from its
        id, content and calls.
        """
        return (
            list(messages[: len(self._raw)]) == self._raw
            and [message.id for message in self._raw] == self._ids
            and [message.content for message in self._raw] == self._contents
            and all(message.tool_calls == calls for message, calls in self._calls)
        )

    def settle(self, messages: Sequence[BaseMessage]) -> bool:
        """Take in what follows; `False`, with nothing changed, where it cannot be repaired by itself."""
        names = Names(self._taken)
        named = with_ids(messages, self.count, self._named)
        piece = self._alone(named, names)
        if piece is None:
            return False
        self._raw += messages
        self._ids += [message.id for message in messages]
        self._contents += [_copied(message.content) for message in messages]
        self._calls += [(m, _calls(m)) for m in messages if isinstance(m, AIMessage) and m.tool_calls]
        self._named.update(str(message.id) for message in named)
        self._taken |= names.new
        self._take(piece)
        return True

    def whole(self, messages: Sequence[BaseMessage]) -> Whole | None:
        """The conversation that goes on with `messages`; `None` where they cannot be repaired by themselves."""
        piece = self._alone(with_ids(messages, self.count, self._named), Names(self._taken))
        if piece is None:
            return None
        talk = closed([*self.talk, *piece.talk] if self.talk else opened(piece.talk))
        return Whole(
            merge_system([*self._system, *piece.system]),
            talk,
            len(self.talk),
            (*self._interrupted, *piece.interrupted),
            self._dropped + piece.matched.dropped,
        )

    def _alone(self, named: Sequence[BaseMessage], names: Names) -> Piece | None:
        piece = repair_piece(named, names)
        crossed = piece.matched.early & self._called or piece.matched.calls & self._waiting
        return None if crossed else piece

    def _take(self, piece: Piece) -> None:
        added = piece.talk if self.talk or not piece.talk else opened(piece.talk)
        self.talk += added
        self.outputs.update(handle for message in added if (handle := full_output_of(message)))
        self.characters += sum(len(str(message.content)) for message in added)
        self._system += piece.system
        self._called |= piece.matched.calls
        self._waiting |= piece.matched.waiting
        self._interrupted += piece.interrupted
        self._dropped += piece.matched.dropped


def grown(before: Settled | None, messages: Sequence[BaseMessage]) -> tuple[Settled, Whole]:
    """The repaired conversation, and what of it is settled for the next time.

    Args:
        before: What was settled of this conversation the last time; it is changed and must not be used again.
        messages: The conversation as it is now.
    """
    settled = before if before is not None and before.begins(messages) else Settled()
    edge = _last_opener(messages)
    if edge > settled.count and not settled.settle(messages[settled.count : edge]):
        settled = Settled()
        settled.settle(messages[:edge])
    whole = settled.whole(messages[settled.count :])
    if whole is None:
        settled = Settled()
        whole = settled.whole(messages)
    assert whole is not None  # nothing can be crossed with nothing
    return settled, whole


def _last_opener(messages: Sequence[BaseMessage]) -> int:
    """Where the last message stands that is no tool result: those after it may still be awaited."""
    for index in range(len(messages) - 1, -1, -1):
        if not isinstance(messages[index], ToolMessage):
            return index
    return 0


def _copied(content: str | list[Any]) -> Any:
    if isinstance(content, str):
        return content
    return [dict(block) if isinstance(block, dict) else block for block in content]


def _calls(message: AIMessage) -> list[Any]:
    return [{**call, "args": dict(call["args"])} for call in message.tool_calls]
