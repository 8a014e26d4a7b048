"""Maps a tool name as a model wrote it to the tool that it offers. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

_TAIL = re.compile(r"<\|.*|:\d+$", re.DOTALL)
"""What gpt-oss (`<|channel|>commentary`) and Kimi (`:0`) leave at the end of a name."""


def plain_name(name: str, tools: Collection[str]) -> str:
    """The offered tool that a name refers to; the name itself if there is none.

    Models add a namespace (`functions.search`, `default_api:search`, `tools/search`) and servers leave control
    tokens after a name. The last part is used only if the name as written is not offered.
    """
    if name in tools:
        return name
    cleaned = _TAIL.sub("", name.strip()).strip()
    short = re.split(r"[./:]", cleaned)[-1]
    return next((each for each in (cleaned, short) if each in tools), name)
