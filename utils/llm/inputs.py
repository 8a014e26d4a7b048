"""Which files a model reads, by its profile. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utils.messages.media.blocks import PDF

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The types of pictures that all providers with pictures take."""


def file_types(model: BaseChatModel) -> tuple[str, ...]:
    """Media types of the files that a model takes, by LangChain's profile of it; none for an unknown model.

    A picture that a model does not take is refused by its server in every request of the conversation from then on.
    """
    profile: Mapping[str, Any] = getattr(model, "profile", None) or {}
    pictures = IMAGES if profile.get("image_inputs") else ()
    return (*pictures, PDF) if profile.get("pdf_inputs") else pictures
