"""The model's view of a user's message: words, text files, JSON, and the files that the model takes. Pure."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from typing import Any

from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION, SCOPE_EXTENSION
from utils.a2a_common.protocol.file_names import safe_file_name
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import ContentPart, DataPart, FileBytes, FileUrl
from utils.messages.media.readable import file_block, is_readable

Content = str | list[str | dict[str, Any]]
"""Content of a message to a model."""

_OURS = (SCOPE_EXTENSION, CONTEXT_EXTENSION)
_TEXTS = ("application/json", "application/xml", "application/yaml")


def user_text(request: AgentRequest) -> str:
    """The user's words, and after them what came along, each under a line that names it.

    A file by address is named with its address and is not fetched. Other bytes than text are not shown: a tool
    reads them in `runtime.context.files`.
    """
    return _joined(request, request.parts)


def user_content(request: AgentRequest, takes: Container[str]) -> Content:
    """The same, followed by the pictures and documents of a type that the model takes.

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
    """The same of an answer to a question, without the JSON objects: a filled form is passed on as data."""
    parts = [
        part for part in request.parts if not (isinstance(part, DataPart) and isinstance(part.value, dict))
    ]
    return _joined(request, parts)


def _joined(request: AgentRequest, parts: Sequence[ContentPart], takes: Container[str] = ()) -> str:
    told = [text for part in parts for text in _told(part, takes)]
    return "\n\n".join([*([request.text] if request.text.strip() or not told else []), *told])


def _told(part: ContentPart, takes: Container[str]) -> Iterator[str]:
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
    """The content of a text file; `None` for what is no text."""
    if not (file.media_type.startswith("text/") or file.media_type in _TEXTS):
        return None
    try:
        return file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
