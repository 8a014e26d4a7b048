"""Parts of another agent's answer as text: text and data as they are, a file by name, type, and address or size.

A model gets the name of a file; its content only where it takes files of that type. Name, type and address are a peer's data: cleaned and capped, and only
an address of the web is shown. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from typing import NamedTuple, assert_never

from utils.a2a_common.client.delegation.remote_files import plausible_type, web_address
from utils.a2a_common.protocol.artifact_limits import MOST_BYTES
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.events import ContentPart, DataPart, FileBytes, FileUrl, TextPart
from utils.messages.media.readable import is_readable


class TextPiece(NamedTuple):
    """The text of a part; `flows` marks streamed text, which the next piece continues without a line break."""

    text: str
    flows: bool = False


def piece_of(part: ContentPart, takes: Container[str] = ()) -> TextPiece:
    """The text of one part.

    Args:
        part: The part.
        takes: Media types of the files that the reading model is shown.
    """
    match part:
        case TextPart(text=text):
            return TextPiece(text, flows=True)
        case DataPart(value=value):
            return TextPiece(json.dumps(value))
        case FileBytes(content=content):
            shown = is_readable(part, takes)
            return TextPiece(f"{described(part)} {_attached(len(content), shown=shown)}")
        case FileUrl(url=url):
            return TextPiece(f"{described(part)} {where(url)}")
        case _:
            assert_never(part)


def joined(pieces: Iterable[TextPiece]) -> str:
    """Pieces as one text: streamed text continues as it came, every other piece gets lines of its own."""
    texts: list[str] = []
    last: TextPiece | None = None
    for piece in pieces:
        if not piece.text:
            continue
        if last is not None and not (last.flows and piece.flows) and not last.text.endswith("\n"):
            texts.append("\n")
        texts.append(piece.text)
        last = piece
    return "".join(texts)


def described(file: FileBytes | FileUrl) -> str:
    """A file by its name, type and size, as the beginning of a sentence."""
    kind = plausible_type(file.media_type)
    about = f"({kind}, {len(file.content):,} bytes)" if isinstance(file, FileBytes) else f"({kind})"
    return (
        f'The file "{safe_file_name(file.name)}" {about}' if file.name else f"A file without a name {about}"
    )


def _attached(size: int, *, shown: bool) -> str:
    if size > MOST_BYTES:
        return f"has more than {MOST_BYTES:,} bytes and is not passed on."
    return f"is attached to the answer. Its content {'follows' if shown else 'is not shown here'}."


def where(url: str) -> str:
    """Where a file is, as the end of a sentence."""
    address = web_address(url)
    return (
        f"is at {address}"
        if address
        else "is at an address that is not shown: it is too long, or none of the web."
    )
