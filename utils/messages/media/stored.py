"""Handles of pictures and documents, and the text as which one is stored. Pure.

A handle depends on the content only, so that the same picture has one handle. It differs from the handle of the stored
text itself: a text of a tool that looks like a stored picture is never read as one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from utils.messages.handles import handle_of
from utils.messages.media.blocks import IMAGE, Media, media_of, standard_block
from utils.messages.media.dimensions import image_size

_HEAD = "content block\n"
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,80}", re.ASCII)


def media_handle(media: Media) -> str:
    """The handle of a picture or document."""
    return handle_of(f"media\n{stored_text(media)}")


def stored_text(media: Media) -> str:
    """The picture or document as text for the artifact store."""
    return f"{_HEAD}{json.dumps(standard_block(media), sort_keys=True)}"


def stored_block(handle: str, text: str) -> dict[str, Any] | None:
    """The content block of a stored picture or document; `None` where the text is a text."""
    if not text.startswith(_HEAD):
        return None
    try:
        media = media_of(json.loads(text[len(_HEAD) :]))
    except ValueError:
        return None
    return standard_block(media) if media and media_handle(media) == handle else None


def media_line(media: Media) -> str:
    """What a text says where a picture or document was: kind, type, size, and the handle that brings it back."""
    about = [media.media_type] if _MEDIA_TYPE.fullmatch(media.media_type) else []
    size = image_size(media.content()) if media.kind == IMAGE and media.data else None
    if size:
        about.append(f"{size.width}x{size.height}")
    elif media.data:
        about.append(f"{len(media.data) * 3 // 4:,} bytes")
    return f'[{", ".join([media.kind, *about])}: read_tool_output("{media_handle(media)}") shows it]'


def media_in(messages: Iterable[BaseMessage]) -> dict[str, str]:
    """The pictures and documents of messages as stored texts, by handle."""
    found = (media_of(block) for message in messages for block in _blocks(message))
    return {media_handle(media): stored_text(media) for media in found if media}


def has_media(message: BaseMessage) -> bool:
    """Whether a message holds a picture or document."""
    return any(media_of(block) for block in _blocks(message))


def _blocks(message: BaseMessage) -> Iterable[str | Mapping[str, Any]]:
    return message.content if isinstance(message.content, list) else ()
