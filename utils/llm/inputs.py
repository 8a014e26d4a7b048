"""Which files a model accepts, by its profile. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utils.messages.media.blocks import PDF

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The image types that all providers with image input accept."""


def file_types(model: BaseChatModel) -> tuple[str, ...]:
    """Media types of the files that a model accepts, by LangChain's profile of it; none for an unknown model.

    If a conversation contains an image that the model does not accept, its server refuses every further request.
    """
    profile: Mapping[str, Any] = getattr(model, "profile", None) or {}
    pictures = IMAGES if profile.get("image_inputs") else ()
    return (*pictures, PDF) if profile.get("pdf_inputs") else pictures
