"""Parts of what another agent says, in words: text and data as they are, a file by its name, type, and address or size.

A model is told of a file, and not its content. Name, type and address are a peer's data: cleaned and capped, and only
an address of the web is shown. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from google.protobuf import json_format

from utils.a2a_common.client.remote_files import plausible_type, web_address
from utils.a2a_common.protocol.artifact_limits import MOST_BYTES
from utils.a2a_common.protocol.file_names import safe_file_name

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Part


class Said(NamedTuple):
    """A part in words; `flows` tells that it is text, which the next piece of text goes on with."""

    text: str
    flows: bool = False


def said(part: Part) -> Said:
    """One part in words; empty where it has no content."""
    match part.WhichOneof("content"):
        case "text":
            return Said(part.text, flows=True)
        case "data":
            return Said(json_format.MessageToJson(part.data, indent=None))
        case "raw":
            size = f"{len(part.raw):,} bytes"
            return Said(f"{_file(part, size)} {_attached(len(part.raw))}")
        case "url":
            return Said(f"{_file(part)} {_where(part.url)}")
        case _:
            return Said("")


def joined(pieces: Iterable[Said]) -> str:
    """Pieces as one text: text goes on as it was streamed, whatever else stands on lines of its own."""
    texts: list[str] = []
    last: Said | None = None
    for piece in pieces:
        if not piece.text:
            continue
        if last is not None and not (last.flows and piece.flows) and not last.text.endswith("\n"):
            texts.append("\n")
        texts.append(piece.text)
        last = piece
    return "".join(texts)


def _file(part: Part, size: str = "") -> str:
    kind = plausible_type(part.media_type)
    about = f"({kind}, {size})" if size else f"({kind})"
    return (
        f'The file "{safe_file_name(part.filename)}" {about}'
        if part.filename
        else f"A file without a name {about}"
    )


def _attached(size: int) -> str:
    if size > MOST_BYTES:
        return f"has more than {MOST_BYTES:,} bytes and is not passed on."
    return "is attached to the answer. Its content is not shown here."


def _where(url: str) -> str:
    address = web_address(url)
    return (
        f"is at {address}"
        if address
        else "is at an address that is not shown: it is too long, or none of the web."
    )
