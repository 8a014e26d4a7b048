"""Files that a model reads: recognised by their content, and made into blocks of a message. Pure."""

from __future__ import annotations

import base64
from collections.abc import Container
from typing import Any

from utils.content_parts import FileBytes
from utils.messages.media.blocks import DOCUMENT, IMAGE, PDF, Media, standard_block
from utils.messages.media.dimensions import image_size


def is_readable(file: FileBytes, takes: Container[str]) -> bool:
    """Whether a model takes a file, and it is what it is called.

    A file counts by its content, not by what its sender calls it: a provider refuses every request of a conversation with a
    broken picture in it.

    Args:
        file: The file.
        takes: Media types that the model takes.
    """
    if file.media_type not in takes:
        return False
    return (
        file.content.startswith(b"%PDF") if file.media_type == PDF else image_size(file.content) is not None
    )


def file_block(file: FileBytes, name: str) -> dict[str, Any]:
    """The block of a message that holds a file, under a safe name."""
    kind = DOCUMENT if file.media_type == PDF else IMAGE
    data = base64.b64encode(file.content).decode()
    return standard_block(Media(kind, file.media_type, data, name=name))
