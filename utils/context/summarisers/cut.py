"""Shortens a text to head and tail within a token limit. Pure."""

from __future__ import annotations

from utils.context.protocols import TokenCounter

ELLIPSIS = " … "


def cut_to(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """Head and tail of a text in at most `max_tokens` tokens, joined by an ellipsis."""
    keep = min(len(text), max_tokens * 6)
    while keep > 0:
        part = text if keep >= len(text) else text[: keep // 2] + ELLIPSIS + text[-(keep // 2) :]
        cost = counter.text(part)
        if cost <= max_tokens:
            return part
        keep = int(min(keep, len(text)) * min(0.9, max_tokens / cost))
        keep = 0 if keep < 2 else keep  # noqa: PLR2004 - nothing to halve
    return ""
