"""What a picture or document costs, by the published rule of each provider. Pure.

Where a rule depends on something that is not known here, such as the size of a picture at an address, its most is counted.

Sources, as of November 2026:

- OpenAI, "Images and vision, calculating costs": tiles of 512 pixels after scaling into 2,048 x 2,048 and to a shortest
  side of 768, each with the price of the model, plus its base (gpt-4o 85 + 170, gpt-4o-mini 2,833 + 5,667, gpt-5 70 + 140,
  o1 and o3 75 + 150); patches of 32 pixels, at most 1,536, times a factor (gpt-4.1-mini, gpt-5-mini 1.62, gpt-4.1-nano,
  gpt-5-nano 2.46, o4-mini 1.72). "PDF files": the text of each page, and an image of it.
- Anthropic, "Vision": width x height / 750 after scaling to at most 1,568 pixels a side and about 1,600 tokens; from
  Opus 4.7 on 2,576 pixels and 4,784 tokens. "PDF support": 1,500 to 3,000 tokens of text for a page, and an image of it.
  Amazon Bedrock charges the same for Claude, and not more for Nova.
- Google, "Understand and count tokens": 258 up to 384 x 384, otherwise 258 for each tile, whose side is the smaller side
  over 1.5 within 256 and 768. "Document understanding": a page is a picture of 258. Gemini 3 ("Media resolution"): a
  picture at most 1,120, a page at most 1,120.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from utils.messages.media.blocks import DOCUMENT, IMAGE, PDF, Media
from utils.messages.media.dimensions import Size, image_size
from utils.messages.media.pages import pdf_pages

UNKNOWN_PAGES = 20
"""Pages of a document at an address or behind a provider's id, whose bytes are not here."""

_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class MediaCharges:
    """The rule of a provider's model.

    Attributes:
        picture: Tokens of a picture of a size.
        most: Tokens of a picture of unknown size: the most that the rule gives.
        page: Tokens of a page of a PDF: its text and its picture.
        low: Tokens of a picture with OpenAI's `detail: low`; 0 if there is no such rule.
    """

    picture: Callable[[Size], int]
    most: int
    page: int
    low: int = 0

    def of(self, media: Media) -> int:
        """Tokens of a picture or document."""
        if media.kind == IMAGE:
            if self.low and media.detail == "low":
                return self.low
            size = image_size(media.content()) if media.data else None
            return self.picture(size) if size else self.most
        if media.kind == DOCUMENT and media.media_type in {PDF, ""}:
            return self.page * (pdf_pages(media.content()) if media.data else UNKNOWN_PAGES)
        return len(media.data) * 3 // 4 // _BYTES_PER_TOKEN


def tiles(size: Size, base: int, tile: int) -> int:
    """OpenAI's tiles: 512 pixels a side, after scaling into 2,048 x 2,048 and to a shortest side of 768."""
    width, height = _within(size, 2_048)
    shrink = min(1.0, 768 / min(width, height))
    return base + tile * math.ceil(width * shrink / 512) * math.ceil(height * shrink / 512)


def patches(size: Size, factor: float) -> int:
    """OpenAI's patches: 32 pixels a side, at most 1,536."""
    return math.ceil(min(math.ceil(size.width / 32) * math.ceil(size.height / 32), 1_536) * factor)


def pixels(size: Size, side: int, most: int) -> int:
    """Anthropic's rule: pixels over 750, after scaling to the longest side and the most tokens."""
    width, height = _within(size, side)
    return min(most, math.ceil(width * height / 750))


def crops(size: Size) -> int:
    """Google's tiles of 258, whose side depends on the smaller side of the picture."""
    if max(size) <= _UNCUT:
        return 258
    side = min(768, max(256, int(min(size) / 1.5)))
    return 258 * math.ceil(size.width / side) * math.ceil(size.height / side)


def _within(size: Size, side: int) -> tuple[float, float]:
    shrink = min(1.0, side / max(size))
    return max(1.0, size.width * shrink), max(1.0, size.height * shrink)


_TEXT_OF_PAGE = 3_000
_UNCUT = 384


def _by_tiles(base: int, tile: int) -> MediaCharges:
    return MediaCharges(
        lambda size: tiles(size, base, tile), base + 8 * tile, _TEXT_OF_PAGE + base + 4 * tile, base
    )


def _by_patches(factor: float) -> MediaCharges:
    most = math.ceil(1_536 * factor)
    return MediaCharges(lambda size: patches(size, factor), most, _TEXT_OF_PAGE + most)


def _by_pixels(side: int, most: int) -> MediaCharges:
    return MediaCharges(lambda size: pixels(size, side, most), most, _TEXT_OF_PAGE + most)


TILES = _by_tiles(85, 170)
CLAUDE = _by_pixels(1_568, 1_600)
NEW_CLAUDE = _by_pixels(2_576, 4_784)
GEMINI = MediaCharges(crops, 12 * 258, 258)
GEMINI_3 = MediaCharges(lambda _size: 1_120, 1_120, 1_120)
UNKNOWN = MediaCharges(
    lambda size: max(tiles(size, 85, 170), pixels(size, 3_520, 16_384)), 4_784, _TEXT_OF_PAGE + 4_784
)
"""For a model that is in no table: the most of the tiles and of one token for 750 pixels, which also covers the rule of
Qwen's models, one token for 28 x 28 pixels."""

_MODELS: tuple[tuple[tuple[str, ...], MediaCharges], ...] = (
    (("gpt-4o-mini",), _by_tiles(2_833, 5_667)),
    (("gpt-4.1-nano", "gpt-5-nano"), _by_patches(2.46)),
    (("gpt-4.1-mini", "gpt-5-mini"), _by_patches(1.62)),
    (("o4-mini",), _by_patches(1.72)),
    (("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4-turbo", "gpt-5", "chatgpt-4o"), TILES),
    (("o1", "o3"), TILES),
    (("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5"), NEW_CLAUDE),
    (("claude",), CLAUDE),
    (("gemini-1", "gemini-2"), GEMINI),
    (("gemini",), GEMINI_3),
    (("nova",), CLAUDE),
)
"""Rules by the beginning of a model's name, after the maker's prefix; the first match counts."""


def charges_for(model: str | None) -> MediaCharges:
    """The rule of a model, by its name; `UNKNOWN` for one that is in no table."""
    name = (model or "").lower().rpartition("/")[2]
    parts = (name, name.partition(".")[2], name.rpartition("anthropic.")[2], name.rpartition("amazon.")[2])
    for beginnings, charges in _MODELS:
        if any(part.startswith(beginnings) for part in parts if part):
            return charges
    return UNKNOWN
