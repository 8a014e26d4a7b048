"""Decisions about what a model sees of a conversation, as plain values for the graph's state.

Messages are never deleted. `Compaction` says which messages are left out, the summary that replaces
them, and which messages are shown with other content; `visible_messages` applies it. Equal messages and
an equal compaction give equal requests, so that the prefix in the provider's prompt cache stays valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.messages.handles import full_output_of
from utils.messages.marks import FULL_OUTPUT
from utils.messages.transcript import after_cut, position_of

_STORED_TEXTS = "shelf"
"""The key of the stored texts in checkpoints, under which existing conversations have them."""


@dataclass(frozen=True, slots=True)
class StoredText:
    """A stored text: its handle, and a label for the model."""

    handle: str
    label: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """Decisions about the visible messages. The keys of `as_state` are stored and must not change.

    Attributes:
        through: Id of the first message of the last exchange that is left out; `None` if nothing is.
        summary: Summary of what is left out.
        stored_texts: Stored texts that what is left out referred to.
        replaced: Replacement contents by message id: `content`, `handle` of the full text, and `args`
            by call id.
        given: Every handle that a request has named, oldest first.
        count: Number of times that messages were left out.
        written: The last summary that a model wrote, or an extract of what its provider refused; an extract may have replaced it since.
        written_through: `through` of that summary.
    """

    through: str | None = None
    summary: str = ""
    stored_texts: tuple[StoredText, ...] = ()
    replaced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    count: int = 0
    written: str = ""
    written_through: str | None = None

    @classmethod
    def from_state(cls, value: Mapping[str, Any] | None) -> Compaction:
        """Read what `as_state` wrote; an empty or missing value means no decisions."""
        if not value:
            return cls()
        return cls(
            through=value.get("through"),
            summary=value.get("summary", ""),
            stored_texts=tuple(StoredText(handle, label) for handle, label in value.get(_STORED_TEXTS, ())),
            replaced=dict(value.get("replaced", {})),
            given=tuple(value.get("given", ())),
            count=value.get("count", 0),
            written=value.get("written", ""),
            written_through=value.get("written_through"),
        )

    def as_state(self) -> dict[str, Any]:
        """The decisions as JSON values for a checkpoint."""
        written = {"written": self.written, "written_through": self.written_through} if self.written else {}
        return {
            **written,
            "through": self.through,
            "summary": self.summary,
            _STORED_TEXTS: [[stored.handle, stored.label] for stored in self.stored_texts],
            "replaced": {key: dict(value) for key, value in self.replaced.items()},
            "given": list(self.given),
            "count": self.count,
        }

    def with_changes(self, before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> Compaction:
        """The decisions plus a replacement for each message of `after` that differs from `before`."""
        changed = {
            str(new.id): {**self.replaced.get(str(new.id), {}), **_difference(old, new)}
            for old, new in zip(before, after, strict=True)
            if new is not old
        }
        return replace(self, replaced={**self.replaced, **changed}) if changed else self

    def with_given(self, handles: Iterable[str]) -> Compaction:
        """The decisions plus handles that a request names."""
        given = tuple(dict.fromkeys([*self.given, *handles]))
        return self if len(given) == len(self.given) else replace(self, given=given)

    def only_for(self, messages: Sequence[BaseMessage]) -> Compaction:
        """The decisions with replacements for these messages only."""
        ids = {message.id for message in messages}
        kept = {key: value for key, value in self.replaced.items() if key in ids}
        return self if len(kept) == len(self.replaced) else replace(self, replaced=kept)


def cut_of(history: Sequence[BaseMessage], compaction: Compaction) -> int:
    """Index of the first message that is not left out."""
    opener = position_of(history, compaction.through)
    if opener is None:
        return 0
    cut = opener + 1
    while cut < len(history) and isinstance(history[cut], ToolMessage):
        cut += 1
    return cut


def unwritten(history: Sequence[BaseMessage], compaction: Compaction) -> Sequence[BaseMessage]:
    """Messages that have left the view since a model wrote the last summary."""
    before = replace(compaction, through=compaction.written_through)
    return history[cut_of(history, before) : cut_of(history, compaction)]


def visible_messages(history: Sequence[BaseMessage], compaction: Compaction) -> list[BaseMessage]:
    """The messages that are sent, without the system message."""
    messages = after_cut(history, cut_of(history, compaction)) if compaction.through else list(history)
    if not compaction.replaced:
        return messages
    changes = (compaction.replaced.get(str(message.id)) for message in messages)
    return [
        message if change is None else _apply(message, change)
        for message, change in zip(messages, changes, strict=True)
    ]


def _difference(old: BaseMessage, new: BaseMessage) -> dict[str, Any]:
    change: dict[str, Any] = {"content": new.content}
    if handle := full_output_of(new):
        change["handle"] = handle
    if isinstance(old, AIMessage) and isinstance(new, AIMessage):
        args = {
            str(call["id"]): call["args"]
            for was, call in zip(old.tool_calls, new.tool_calls, strict=True)
            if was["args"] is not call["args"]
        }
        if args:
            change["args"] = args
    return change


def _apply(message: BaseMessage, change: Mapping[str, Any]) -> BaseMessage:
    update: dict[str, Any] = {"content": change["content"]}
    if handle := change.get("handle"):
        update["additional_kwargs"] = {**message.additional_kwargs, **FULL_OUTPUT.entry(handle)}
    args = change.get("args")
    if args and isinstance(message, AIMessage):
        update["tool_calls"] = [{**c, "args": args.get(c["id"], c["args"])} for c in message.tool_calls]
    return message.model_copy(update=update)
