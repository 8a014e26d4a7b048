"""Whether an event of a tool can be sent: checked where it is published, so that the call fails that is wrong, and not the turn later. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from utils.a2a_common.execution.artifact_encoding import prepared
from utils.a2a_common.protocol.parts import encode_part
from utils.errors import PlatformError
from utils.events import (
    ArtifactAdded,
    Completed,
    DataPart,
    Failed,
    FileBytes,
    FileUrl,
    InputRequired,
    MessageAnswer,
    MetadataReported,
    Rejected,
    StatusText,
    TextDelta,
    TextPart,
    TextRestarted,
)
from utils.messages.characters import of_whole_characters

_TAKES = "publish takes ArtifactAdded, StatusText or MetadataReported of utils.events"
_ENDS = "What ends a turn is not a tool's to publish: return what the model shall read, or raise a type of utils.errors"
_ELSE: Mapping[tuple[type, ...], str] = {
    (Completed, Failed, Rejected, MessageAnswer): _ENDS,
    (InputRequired,): "Call ask_user to ask the user",
    (TextDelta, TextRestarted): "Text of the answer is the model's to write: return it from the tool",
}
"""What to write in place of an event that is not a tool's."""

_TEXTS: Mapping[type, Sequence[str]] = {
    StatusText: ("text",),
    MetadataReported: ("uri",),
    ArtifactAdded: ("name", "description", "id", "origin"),
    TextPart: ("text", "media_type"),
    FileBytes: ("name", "media_type"),
    FileUrl: ("url", "name", "media_type"),
    DataPart: ("media_type",),
}
"""The fields that are texts."""


class EventRefused(PlatformError):
    """A tool published, or asked the user, something that cannot be sent. The message tells its author what to write instead."""

    code = "event_refused"


def check_event(event: object) -> None:
    """Refuse what cannot be sent.

    Raises:
        EventRefused: It is not an event that tools publish, or one of its values has another type or cannot be written as JSON.
    """
    match event:
        case ArtifactAdded():
            _check_artifact(event)
        case StatusText():
            _check_texts(event)
        case MetadataReported(uri=uri, payload=payload):
            _check_texts(event)
            _check_object(f"The payload of {uri!r}", payload)
        case _:
            more = next((hint for kinds, hint in _ELSE.items() if isinstance(event, kinds)), "")
            _refuse(f"{_TAKES}, and was given {type(event).__name__}. {more}".rstrip(". "))


def _check_artifact(event: ArtifactAdded) -> None:
    _check_texts(event)
    if not isinstance(event.parts, Sequence) or isinstance(event.parts, str | bytes):
        _refuse("An ArtifactAdded cannot be published: its `parts` are no list")
    for part in event.parts:
        if not isinstance(part, TextPart | FileBytes | FileUrl | DataPart):
            kinds = "TextPart, FileBytes, FileUrl or DataPart"
            _refuse(f"A part of an artifact is {kinds}, and was {type(part).__name__}")
        _check_texts(part)
        if isinstance(part, FileBytes) and not isinstance(part.content, bytes):
            _refuse(_wrong(part, "content", "bytes"))
        if isinstance(part, DataPart):
            _check_json("A data part", part.value)
        _check_object("The metadata of a part", part.metadata)
    if not isinstance(event.metadata, Mapping):
        _refuse(_wrong(event, "metadata", "dict"))
    for uri, payload in event.metadata.items():
        _check_object(f"The metadata under {uri!r}", payload)
    try:
        prepared(of_whole_characters(event))
    except ValueError as error:
        _refuse(f"An ArtifactAdded cannot be published: {error}".rstrip("."))


def _check_texts(event: Any) -> None:
    for name in next(names for kind, names in _TEXTS.items() if isinstance(event, kind)):
        if not isinstance(getattr(event, name), str):
            _refuse(_wrong(event, name, "str"))


def _check_object(what: str, payload: object) -> None:
    if not isinstance(payload, Mapping):
        _refuse(f"{what} is of type {type(payload).__name__} and must be a dict")
    _check_json(what, dict(payload))


def _check_json(what: str, value: object) -> None:
    """Refuse what JSON cannot represent: other objects, keys that are not text, infinite numbers and NaN."""
    try:
        encode_part(DataPart(of_whole_characters(value)))
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError):
        _refuse(f"{what} holds a value that JSON cannot express")


def _wrong(event: object, name: str, wanted: str) -> str:
    given = type(getattr(event, name)).__name__
    return (
        f"A {type(event).__name__} cannot be published: its `{name}` is of type {given} and must be {wanted}"
    )


def _refuse(why: str) -> NoReturn:
    raise EventRefused(f"{why}.")
