"""Pictures, documents and thoughts for generated conversations, in the forms that providers and LangChain give them."""

import base64
import random
import struct
import zlib
from typing import Any

from tests.property.context.texts import some_text


def png(width: int, height: int, filling: bytes = b"") -> bytes:
    """A picture of a size: the header, and one row too few to be shown."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", filling) + chunk(b"IEND", b"")


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def jpeg(width: int, height: int) -> bytes:
    frame = struct.pack(">BBHBHH", 0xFF, 0xC0, 17, 8, height, width) + bytes(10)
    return b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(10) + frame + b"\xff\xd9"


def webp(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00" + bytes(4) + size


def pdf(pages: int, size: int = 0) -> bytes:
    """A document of so many pages, filled up to a size."""
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(pages))
    body = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    body += b"2 0 obj<</Type/Pages/Kids[%s]/Count %d>>endobj\n" % (kids, pages)
    body += b"".join(
        b"%d 0 obj<</Type /Page/Parent 2 0 R>>endobj\n" % (number + 3) for number in range(pages)
    )
    return body + b"%" + b"x" * max(0, size - len(body)) + b"\n%%EOF"


def some_media(rng: random.Random) -> list[dict[str, Any]]:
    """One to three pictures or documents."""
    return [rng.choice((_picture, _picture, _document))(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]


def _picture(rng: random.Random) -> dict[str, Any]:
    width, height = (int(2 ** rng.uniform(2, 13)) for _ in range(2))
    kind, content = rng.choice(
        (
            ("image/png", png(width, height, rng.randbytes(rng.choice((10, 5_000))))),
            ("image/gif", gif(width, height)),
            ("image/jpeg", jpeg(width, height)),
            ("image/webp", webp(width, height)),
            ("image/png", b"\x89PNG\r\n\x1a\nbroken"),
        )
    )
    data = base64.b64encode(content).decode()
    forms: tuple[dict[str, Any], ...] = (
        {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}},
        {"type": "image", "base64": data, "mime_type": kind},
        {"type": "image", "source_type": "base64", "data": data, "mime_type": kind},
        {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}},
        {"type": "input_image", "image_url": f"data:{kind};base64,{data}"},
        {"image": {"format": kind.partition("/")[2], "source": {"bytes": data}}},
    )
    return rng.choice(forms)


def _document(rng: random.Random) -> dict[str, Any]:
    data = base64.b64encode(pdf(rng.choice((1, 2, 5, 12)), rng.choice((0, 20_000)))).decode()
    name = rng.choice(("report.pdf", "Bericht 2026 (final).pdf", "資料.pdf", ""))
    named = {"filename": name} if name else {}
    forms: tuple[dict[str, Any], ...] = (
        {"type": "file", "base64": data, "mime_type": "application/pdf", **named},
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}", **named}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}},
        {"document": {"format": "pdf", "name": "report", "source": {"bytes": data}}},
    )
    return rng.choice(forms)


def some_thought(rng: random.Random) -> dict[str, Any]:
    """A reasoning block, as Anthropic, Bedrock and OpenAI send it."""
    text = some_text(rng, rng.choice((5, 40, 300)), "prose")
    forms: tuple[dict[str, Any], ...] = (
        {"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"},
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        {"type": "reasoning_content", "reasoning_content": {"text": text, "signature": "c2lnbmF0dXJl"}},
        {"type": "reasoning", "reasoning": text},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}]},
    )
    return rng.choice(forms)
