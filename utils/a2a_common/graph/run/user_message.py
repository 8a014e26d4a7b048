"""A user's message as the model gets it: text, text files, JSON, and the files that the model accepts.

Only `with_files` does I/O: it fetches files that are given by address.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from utils.a2a_common.graph.run.fetched_file import MOST_FILES, fetched
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, SCOPE_EXTENSION
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import ContentPart, DataPart, FileBytes, FileUrl, StatusText
from utils.llm.inputs import IMAGES
from utils.messages.media.blocks import PDF
from utils.messages.media.readable import file_block, is_readable
from utils.net.settings import FileSettings

Content = str | list[str | dict[str, Any]]
"""Content of a message to a model."""

_OURS = (SCOPE_EXTENSION, CONTEXT_EXTENSION)
_KINDS = (*IMAGES, PDF)
_TEXTS = ("application/json", "application/xml", "application/yaml")


class Sent(NamedTuple):
    """A request with its files, and the notes for the user about files that the model cannot read."""

    request: AgentRequest
    notes: tuple[StatusText, ...] = ()


async def with_files(request: AgentRequest, takes: Container[str], settings: FileSettings) -> Sent:
    """The request with the content of the pictures and documents that are given by address.

    Args:
        request: The request as received.
        takes: Media types of the files that the model takes; no other ones are fetched.
        settings: From where, and how long it may take.
    """
    if request.recovered:
        return Sent(request)  # the conversation has the message already
    parts, notes, left = list[ContentPart](), list[StatusText](), MOST_FILES
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
            notes.append(StatusText(f'The model does not see the content of the file "{name}". {why}'))
        parts.append(kept)
    return Sent(replace(request, parts=tuple(parts)), tuple(notes))


def user_content(request: AgentRequest, takes: Container[str]) -> Content:
    """The user's text, the attachments, each under a line that names it, and then pictures and documents that the model accepts.

    A file by address is named with its address and is not fetched. Other bytes than text are not shown: a tool
    reads them in `runtime.context.files`.

    Args:
        request: The request.
        takes: Media types of the files that the model takes.
    """
    text = _joined(request, request.parts, takes)
    shown = [part for part in request.parts if isinstance(part, FileBytes) and is_readable(part, takes)]
    return (
        [{"type": "text", "text": text}, *(file_block(each, safe_file_name(each.name)) for each in shown)]
        if shown
        else text
    )


def answer_text(request: AgentRequest) -> str:
    """The text of an answer to a question, without JSON objects and data with metadata, which are passed on as data."""
    return _joined(request, [part for part in request.parts if not _is_passed_on(part)])


def answer_data(request: AgentRequest) -> list[DataPart]:
    """The data of an answer that is passed on as data, as it was sent, without the delegation context."""
    parts = [part for part in request.parts if isinstance(part, DataPart) and _is_passed_on(part)]
    if not parts:
        parts = [DataPart(dict(value)) for value in request.data]
    return [part for part in parts if not (isinstance(part.value, Mapping) and SCOPE_EXTENSION in part.value)]


def _is_passed_on(part: ContentPart) -> bool:
    return isinstance(part, DataPart) and (isinstance(part.value, dict) or bool(part.metadata))


def _joined(request: AgentRequest, parts: Sequence[ContentPart], takes: Container[str] = ()) -> str:
    texts = [text for part in parts for text in _as_text(part, takes)]
    return "\n\n".join([*([request.text] if request.text.strip() or not texts else []), *texts])


def _as_text(part: ContentPart, takes: Container[str]) -> Iterator[str]:
    match part:
        case FileBytes():
            head = f'The file "{safe_file_name(part.name)}" ({part.media_type}, {len(part.content):,} bytes)'
            shown = _decoded(part)
            if is_readable(part, takes):
                yield f"{head} came along."
                return
            yield (
                f"{head} came along; its content is not shown here."
                if shown is None
                else f"{head}:\n\n{shown}"
            )
        case FileUrl():
            where = json.dumps(part.url)
            yield f'The file "{safe_file_name(part.name)}" ({part.media_type}) stands at {where}.'
        case DataPart(value=value):
            if not (isinstance(value, dict) and any(uri in value for uri in _OURS)):
                yield f"Data ({part.media_type}):\n\n{json.dumps(value, ensure_ascii=False)}"


def _decoded(file: FileBytes) -> str | None:
    """The content of a text file; `None` if it is not text."""
    if not (file.media_type.startswith("text/") or file.media_type in _TEXTS):
        return None
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
