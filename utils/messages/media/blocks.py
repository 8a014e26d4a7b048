"""Recognises pictures and documents among content blocks, in the form of each provider. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

IMAGE = "image"
DOCUMENT = "document"
OTHER = "other"
PDF = "application/pdf"

_IMAGES = frozenset({"image", "image_url", "input_image"})
_FILES = frozenset({"file", "input_file", "document", "audio", "input_audio", "video", "text-plain"})
_BEDROCK = (IMAGE, DOCUMENT, "video", "audio")
_SHARED = frozenset({"image", "image_url", "file"})
_TEXT_FORMATS = {"txt": "text/plain", "md": "text/markdown", "html": "text/html", "csv": "text/csv"}


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or document of a message.

    Attributes:
        kind: `image`, `document` or `other`.
        media_type: Such as `image/png`; empty where the block does not say.
        data: The content in base64; empty where the block names a place.
        place: Address or id of the content at the provider; empty where the block holds it.
        name: Name of the file.
        detail: OpenAI's resolution, `low` or `high`.
    """

    kind: str
    media_type: str = ""
    data: str = field(default="", repr=False)
    place: str = ""
    name: str = ""
    detail: str = ""

    def content(self) -> bytes:
        """The bytes; none where the block names a place, or is no base64."""
        try:
            return base64.b64decode(self.data, validate=False)
        except (binascii.Error, ValueError):
            return b""


def media_of(block: object) -> Media | None:
    """The picture or document that a content block holds; `None` for other blocks."""
    if not isinstance(block, Mapping):
        return None
    kind = block.get("type")
    if kind is None:
        return next((_of_bedrock(name, block[name]) for name in _BEDROCK if name in block), None)
    if kind in _IMAGES:
        return _image(block)
    if kind in _FILES and not (kind == "document" and _has_text_source(block)):
        return _file(block)
    return None


def standard_block(media: Media) -> dict[str, Any]:
    """The block in LangChain's form, which the clients of all providers translate."""
    block: dict[str, Any] = {"type": "image" if media.kind == IMAGE else "file"}
    if media.data:
        block |= {"base64": media.data, "mime_type": media.media_type or "application/octet-stream"}
    elif "/" in media.place:
        block["url"] = media.place
    else:
        block["file_id"] = media.place
    if media.kind != IMAGE:
        block["filename"] = media.name or "file"
    return block


def shared_block(block: Mapping[str, Any], media: Media) -> Mapping[str, Any]:
    """The same block if every client translates it, else its standard form."""
    own = block.get("type") in _SHARED and "source" not in block and "file" not in block
    return block if own else standard_block(media)


def _image(block: Mapping[str, Any]) -> Media:
    link = block.get("image_url")
    if isinstance(link, Mapping):
        return _of_address(IMAGE, str(link.get("url") or ""), detail=str(link.get("detail") or ""))
    if isinstance(link, str):
        return _of_address(IMAGE, link, detail=str(block.get("detail") or ""))
    return _of_keys(IMAGE, block)


def _file(block: Mapping[str, Any]) -> Media:
    inner = block.get("file")
    audio = block.get("input_audio")
    if isinstance(audio, Mapping):
        return Media(OTHER, f"audio/{audio.get('format') or 'wav'}", str(audio.get("data") or ""))
    if not isinstance(inner, Mapping):
        inner = block if "file_data" in block else None
    if inner is not None:
        name = str(inner.get("filename") or "")
        if inner.get("file_data"):
            return _of_address(DOCUMENT, str(inner["file_data"]), name=name)
        return Media(DOCUMENT, PDF, place=str(inner.get("file_id") or inner.get("file_url") or ""), name=name)
    return _of_keys(OTHER if block["type"] in {"audio", "video"} else DOCUMENT, block)


def _of_keys(kind: str, block: Mapping[str, Any]) -> Media:
    """A block of LangChain's own form, old or new, or of Anthropic's with a `source`."""
    source = block.get("source")
    held = source if isinstance(source, Mapping) else block
    name = str(block.get("filename") or block.get("title") or block.get("name") or "")
    if url := held.get("url"):
        return _of_address(kind, str(url), name=name)
    media_type = str(held.get("mime_type") or held.get("media_type") or "")
    data = held.get("base64") or held.get("data") or ""
    if data:
        return Media(kind, media_type or (PDF if kind == DOCUMENT else "image/png"), str(data), name=name)
    return Media(kind, media_type, place=str(held.get("file_id") or held.get("id") or ""), name=name)


def _of_address(kind: str, address: str, *, name: str = "", detail: str = "") -> Media:
    if not address.startswith("data:"):
        return Media(kind, "", place=address, name=name, detail=detail)
    head, _, data = address[5:].partition(",")
    return Media(kind, head.partition(";")[0], data, name=name, detail=detail)


def _of_bedrock(kind: str, inner: object) -> Media | None:
    if not isinstance(inner, Mapping):
        return None
    content = (inner.get("source") or {}).get("bytes") or b""
    data = content if isinstance(content, str) else base64.b64encode(content).decode()
    form = str(inner.get("format") or "")
    known = {"pdf": PDF, **_TEXT_FORMATS}.get(form, f"{'image' if kind == IMAGE else 'application'}/{form}")
    return Media(kind if kind in {IMAGE, DOCUMENT} else OTHER, known, data, name=str(inner.get("name") or ""))


def _has_text_source(block: Mapping[str, Any]) -> bool:
    """Whether the block is a document of plain text or of blocks, which is no file."""
    source = block.get("source")
    return isinstance(source, Mapping) and source.get("type") in {"text", "content"}
