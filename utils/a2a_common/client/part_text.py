"""Parts of what another agent says, in words: text and data as they are, a file by its name, type, and address or size.

The content of a file is not passed on. Its name, type and address are a peer's data: cleaned and capped, and only an
address of the web is shown. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from google.protobuf import json_format

from utils.messages.invisible import seen_of

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Part

LONGEST_NAME = 120
"""Characters of a file's name that are shown."""

LONGEST_ADDRESS = 2_000
"""Characters of an address; a longer one is not shown, since a part of it leads nowhere."""

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,80}", re.ASCII)
_OF_AN_ADDRESS = "!#$%&'()*+,/:;=?@[]~"


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
            return Said(f"{_file(part, size)} was returned too. Its content is not passed on.")
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
    name = _clean(part.filename)
    kind = part.media_type if _MEDIA_TYPE.fullmatch(part.media_type) else "unknown type"
    about = f"({kind}, {size})" if size else f"({kind})"
    return f'The file "{name}" {about}' if name else f"A file without a name {about}"


def _clean(name: str) -> str:
    """A name on one line, without what hides or reorders text, that cannot end its quotation."""
    seen = seen_of(name[: 4 * LONGEST_NAME], instead=" ")
    line = " ".join(seen.split()).replace('"', "'")
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def _where(url: str) -> str:
    """Where a file is. An address that names a user looks like another host's, and is not shown either."""
    address = quote(url[: LONGEST_ADDRESS + 1], safe=_OF_AN_ADDRESS)
    if len(address) > LONGEST_ADDRESS:
        return "is at an address that is too long and is not shown."
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        return "is at an address that is not shown: it is none of the web."
    return f"is at {address}"
