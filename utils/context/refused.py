"""What a model provider refused once, and a conversation without it. Pure.

A provider that refuses a picture or a sentence refuses every request that holds it, so that the conversation could never go on. What
is suspected is what came since the last request that was accepted. It stays in the stored conversation and leaves the view, before the
pipeline: no stage, rule, summary or stored text sees it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from utils.context.compaction import Compaction
from utils.messages.marks import COUNTED_TOKENS
from utils.messages.media.blocks import IMAGE, Media, media_of
from utils.messages.media.named import name_in
from utils.messages.media.stored import media_handle
from utils.messages.text import message_text
from utils.messages.transcript import active_index, is_stand_in

TURN_LEFT_OUT = (
    "(The model provider refused this message of the user, or what was found for it. Both are left out here.)"
)


@dataclass(frozen=True, slots=True)
class Refused:
    """What is left out because a provider refused it. The keys of `as_state` are stored and must not change.

    Attributes:
        media: Pictures and documents by handle, each with what it is called, so that the same one is left out wherever it comes from.
        turns: Ids of the user's messages whose turns are left out.
        rules: Texts of rules that the user added, which requests do not show.
    """

    media: Mapping[str, str] = field(default_factory=dict)
    turns: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @classmethod
    def from_state(cls, values: Mapping[str, Any]) -> Refused:
        """What a graph's state holds under `refused`."""
        value = values.get("refused") or {}
        return cls(dict(value.get("media", {})), tuple(value.get("turns", ())), tuple(value.get("rules", ())))

    def as_state(self) -> dict[str, Any]:
        """The same as JSON values for a checkpoint."""
        return {"media": dict(self.media), "turns": list(self.turns), "rules": list(self.rules)}

    def __bool__(self) -> bool:
        return bool(self.media or self.turns or self.rules)

    def with_media(self, media: Mapping[str, str]) -> Refused:
        """The same and these pictures and documents."""
        return replace(self, media={**self.media, **media})

    def with_turns(self, turns: Iterable[str]) -> Refused:
        """The same and these turns."""
        return replace(self, turns=tuple(dict.fromkeys([*self.turns, *turns])))

    def with_rules(self, rules: Iterable[str]) -> Refused:
        """The same and these rules."""
        return replace(self, rules=tuple(dict.fromkeys([*self.rules, *rules])))

    def without_rule(self, rule: str) -> Refused:
        """The same without a rule that the user removed: where it is added once more, it is tried once more."""
        return replace(self, rules=tuple(each for each in self.rules if each != rule))


@dataclass(frozen=True, slots=True)
class Suspects:
    """The content that may have caused a refusal.

    Attributes:
        media: Images and documents by handle, each with its name for the user.
        turns: IDs of the user's messages of the turns that added it.
        user_text: Whether it includes a message of the user.
        tools: Names of the tools whose results it includes.
    """

    media: Mapping[str, str]
    turns: tuple[str, ...]
    user_text: bool
    tools: tuple[str, ...]


def suspects(view: Sequence[BaseMessage]) -> Suspects:
    """The content that was added since the last accepted request, which is found by the token count on its answer.

    If the turn before was refused too, every image and document is suspected: another model may have accepted it.

    Args:
        view: The messages of the refused request, without the system message.
    """
    answered = [index for index, message in enumerate(view) if COUNTED_TOKENS.of(message) is not None]
    start = answered[-1] + 1 if answered else 0
    new = view[start:]
    requests: list[BaseMessage] = [message for message in new if _is_request(message)]
    within = [*takewhile(lambda message: not _is_request(message), new)]  # of a turn that had begun before
    found = not requests or any(isinstance(message, ToolMessage) for message in within)
    begun = active_index(view[:start]) if found else None
    shown = view if any(message.content == TURN_LEFT_OUT for message in requests) else new
    texts = "\n".join(message_text(message) for message in shown)
    return Suspects(
        {media_handle(media): _called(media, texts) for message in shown for media in _media(message)},
        tuple(str(message.id) for message in ([] if begun is None else [view[begun]]) + requests),
        bool(requests),
        tuple(dict.fromkeys(str(each.name or "a tool") for each in new if isinstance(each, ToolMessage))),
    )


def without_refused(messages: Sequence[BaseMessage], refused: Refused) -> list[BaseMessage]:
    """The conversation as it is shown: a line stands in place of each thing that was refused."""
    if not refused:
        return list(messages)
    kept: list[BaseMessage] = []
    hidden = False
    for message in messages:
        if isinstance(message, HumanMessage):
            hidden = message.id in refused.turns
            if hidden:
                kept.append(HumanMessage(TURN_LEFT_OUT, id=message.id))
                continue
        if not hidden or isinstance(message, SystemMessage):
            kept.append(_with_lines(message, refused.media))
    return kept


def accepted_messages(values: Mapping[str, Any]) -> list[BaseMessage]:
    """The conversation of a graph's state as it is shown."""
    return without_refused(values.get("messages", ()), Refused.from_state(values))


def decisions_without(
    compaction: Compaction, messages: Sequence[BaseMessage], shown: Sequence[BaseMessage], refused: Refused
) -> Compaction:
    """The decisions about the view, so that they bring nothing back that was refused; the same where they do not.

    Args:
        compaction: The decisions.
        messages: The complete conversation.
        shown: The same from `without_refused`.
        refused: What is left out.
    """
    if not refused:
        return compaction
    ids = {str(message.id) for message in shown}
    gone = {str(message.id) for message in messages} - ids
    lost = gone.union(refused.turns)
    replaced = {
        key: _change_with_lines(change, refused.media)
        for key, change in compaction.replaced.items()
        if key not in lost
    }
    moved = replace(
        compaction,
        replaced=replaced,
        through=_nearest(compaction.through, messages, gone),
        written_through=_nearest(compaction.written_through, messages, gone),
    )
    return compaction if moved == compaction else moved


def _nearest(through: str | None, messages: Sequence[BaseMessage], gone: set[str]) -> str | None:
    """The id of the message, or of the last one before it that is shown: that is the user's message of its turn."""
    if through not in gone:
        return through
    kept = None
    for message in messages:
        if message.id == through:
            break
        kept = kept if str(message.id) in gone else message.id
    return kept


def _change_with_lines(change: Mapping[str, Any], media: Mapping[str, str]) -> Mapping[str, Any]:
    content = change["content"]
    lines = _lines(content, media) if isinstance(content, list) else content
    return change if lines is content else {**change, "content": lines}


def _with_lines(message: BaseMessage, media: Mapping[str, str]) -> BaseMessage:
    if not media or not isinstance(message.content, list):
        return message
    lines = _lines(message.content, media)
    return message if lines is message.content else message.model_copy(update={"content": lines})


def _lines(blocks: list[Any], refused: Mapping[str, str]) -> list[Any]:
    """The blocks with a line for each one that was refused; the same list where there is none."""
    found = {
        index: refused[handle]
        for index, block in enumerate(blocks)
        if (media := media_of(block)) and (handle := media_handle(media)) in refused
    }
    if not found:
        return blocks
    return [
        {"type": "text", "text": f"({_capital(found[index])} is left out: the model provider refused it.)"}
        if index in found
        else block
        for index, block in enumerate(blocks)
    ]


def _is_request(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not is_stand_in(message)


def _media(message: BaseMessage) -> list[Media]:
    blocks = message.content if isinstance(message.content, list) else ()
    return [] if isinstance(message, AIMessage) else [media for each in blocks if (media := media_of(each))]


def _called(media: Media, texts: str) -> str:
    """What a picture or document is called in a sentence, by the name that a message beside it gives it."""
    if name := name_in(texts, media):
        return f'the file "{name}"'
    return "a picture" if media.kind == IMAGE else "a document"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
