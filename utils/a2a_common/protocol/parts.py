"""Parts of artifacts and messages: typed on our side, protocol buffers on the wire. The one encoder and decoder. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

from utils.events import ContentPart, DataPart, FileBytes, FileUrl, TextPart

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message, Part

_TYPES = {"text": "text/plain", "data": "application/json"}
_UNKNOWN_TYPE = "application/octet-stream"
_LARGEST_WHOLE = 2**53
"""Above it a float does not hold every integer."""

LARGEST_METADATA = 65_536
"""Bytes of the metadata of one part: marks of its sender, such as ids and signatures, and no content. It is stored with each question."""


def encode_part(part: ContentPart) -> Part:
    """A part as it is sent.

    Raises:
        ValueError: A data part, or metadata, holds what JSON cannot express.
    """
    encoded = _content(part)
    if part.metadata:
        encoded.metadata.CopyFrom(_value(dict(part.metadata)).struct_value)
    return encoded


def _content(part: ContentPart) -> Part:
    from a2a.types.a2a_pb2 import Part

    match part:
        case TextPart(text=text, media_type=media_type):
            return Part(text=text, media_type=media_type)
        case FileBytes(content=content, name=name, media_type=media_type):
            return Part(raw=content, filename=name, media_type=media_type)
        case FileUrl(url=url, name=name, media_type=media_type):
            return Part(url=url, filename=name, media_type=media_type)
        case DataPart(value=value, media_type=media_type):
            return Part(data=_value(value), media_type=media_type)
        case _:
            assert_never(part)


def objects_under(uri: str, message: Message) -> list[Mapping[str, Any]]:
    """The data parts of a message that are objects with this key, as an extension's URI; the others are not decoded."""
    from google.protobuf import json_format

    return [
        json_format.MessageToDict(part.data.struct_value)
        for part in message.parts
        if part.data.HasField("struct_value") and uri in part.data.struct_value.fields
    ]


def text_in(message: Message) -> str:
    """The text parts of a message, a line each."""
    return "\n".join(part.text for part in message.parts if part.text)


def objects_in(message: Message) -> list[Mapping[str, Any]]:
    """The JSON objects among the data parts of a message."""
    from google.protobuf import json_format

    values = [json_format.MessageToDict(part.data) for part in message.parts if part.HasField("data")]
    return [value for value in values if isinstance(value, Mapping)]


def decode_part(part: Part) -> ContentPart | None:
    """A part as it came; `None` for one without content. Nothing of it is cleaned: names, addresses and metadata are a peer's data.

    Metadata beyond `LARGEST_METADATA` is left out.
    """
    from google.protobuf import json_format

    media_type, metadata = media_type_of(part), _metadata(part)
    match part.WhichOneof("content"):
        case "text":
            return TextPart(part.text, media_type, metadata)
        case "raw":
            return FileBytes(part.raw, part.filename, media_type, metadata)
        case "url":
            return FileUrl(part.url, part.filename, media_type, metadata)
        case "data":
            return DataPart(whole_numbers(json_format.MessageToDict(part.data)), media_type, metadata)
        case _:
            return None


def _metadata(part: Part) -> dict[str, Any]:
    from google.protobuf import json_format

    if not part.metadata.fields or part.metadata.ByteSize() > LARGEST_METADATA:
        return {}
    read: dict[str, Any] = whole_numbers(json_format.MessageToDict(part.metadata))
    return read


def kept_part(part: DataPart) -> dict[str, Any]:
    """A data part as JSON, in the protocol's own form: so it is stored with a question and with an answer."""
    from google.protobuf import json_format

    kept: dict[str, Any] = whole_numbers(json_format.MessageToDict(encode_part(part)))
    return kept


def part_kept(kept: Mapping[str, Any]) -> DataPart:
    """The data part that was stored so."""
    return DataPart(kept.get("data"), str(kept.get("mediaType", _TYPES["data"])), kept.get("metadata") or {})


def media_type_of(part: Part) -> str:
    """The media type of a part, without parameters; the protocol's default where it names none."""
    named: str = part.media_type.partition(";")[0].strip().lower()
    return named or _TYPES.get(part.WhichOneof("content") or "", _UNKNOWN_TYPE)


def data_part(value: Mapping[str, Any]) -> Part:
    """A JSON object as a part."""
    return encode_part(DataPart(dict(value)))


def whole_numbers(value: Any) -> Any:
    """A JSON value with integral numbers as integers again: protocol buffers keep every number as a float."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_WHOLE:
        return int(value)
    if isinstance(value, dict):
        return {name: whole_numbers(each) for name, each in value.items()}
    return [whole_numbers(each) for each in value] if isinstance(value, list) else value


def _value(value: Any) -> Any:
    from google.protobuf import json_format, struct_pb2

    try:
        return json_format.ParseDict(value, struct_pb2.Value())
    except (json_format.ParseError, TypeError, AttributeError) as error:
        raise ValueError("A data part holds a value that JSON cannot express.") from error
