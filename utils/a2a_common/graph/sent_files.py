"""Files of a user's message on their way to the model: those at an address are fetched, and the user is told of those it cannot read."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import NamedTuple

from utils.a2a_common.graph.fetched_file import MOST_FILES, fetched
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import ContentPart, FileBytes, FileUrl, StatusText
from utils.llm.inputs import IMAGES
from utils.messages.media.blocks import PDF
from utils.messages.media.readable import is_readable
from utils.net.settings import FileSettings

_KINDS = (*IMAGES, PDF)


class Sent(NamedTuple):
    """A request with its files, and what the user is told of those that the model cannot read."""

    request: AgentRequest
    told: tuple[StatusText, ...] = ()


async def with_files(request: AgentRequest, takes: Container[str], settings: FileSettings) -> Sent:
    """The request with the content of the pictures and documents that stand at an address.

    Args:
        request: What came.
        takes: Media types of the files that the model takes; no other ones are fetched.
        settings: From where, and how long it may take.
    """
    if request.recovered:
        return Sent(request)  # the conversation holds the message since before
    parts, told, left = list[ContentPart](), list[StatusText](), MOST_FILES
    for part in request.parts:
        kept, why = part, ""
        if isinstance(part, FileUrl) and part.media_type in takes:
            kept, why = await fetched(part, settings) if left else (part, "The message has too many files.")
            left -= 1
        if isinstance(kept, FileBytes) and kept.media_type in _KINDS and not is_readable(kept, takes):
            broken = kept.media_type in takes
            why = f"It is no {kept.media_type}." if broken else f"The model takes no {kept.media_type}."
        elif isinstance(kept, FileUrl) and kept.media_type in _KINDS and not why:
            why = f"The model takes no {kept.media_type}."
        if why and isinstance(kept, FileBytes | FileUrl):
            name = safe_file_name(kept.name) or "without a name"
            told.append(StatusText(f'The model does not see the content of the file "{name}". {why}'))
        parts.append(kept)
    return Sent(replace(request, parts=tuple(parts)), tuple(told))
