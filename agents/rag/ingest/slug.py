"""Anchors of headings, as GitHub and most Markdown renderers make them."""

from __future__ import annotations

import re

_DROPPED = re.compile(r"[^\w\- ]")


class Slugs:
    """Gives each heading of one document its anchor; repeated ones get -1, -2 and so on."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def of(self, heading: str) -> str:
        """The anchor of the next heading with this text."""
        slug = _DROPPED.sub("", heading.strip().lower()).replace(" ", "-")
        count = self._seen.get(slug, 0)
        self._seen[slug] = count + 1
        return slug if count == 0 else f"{slug}-{count}"
