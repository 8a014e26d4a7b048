"""What a picture or document is called: a picture's block has no name, the text beside it has one. Pure."""

from __future__ import annotations

import re

from utils.messages.invisible import seen_of
from utils.messages.media.blocks import Media

_LONGEST = 200
_UNNAMED = "file"
_QUOTES = str.maketrans(dict.fromkeys('"()', "_"))


def name_in(text: str, media: Media) -> str:
    """The name of a picture or document; empty if it has none.

    Args:
        text: What stands beside it: a sentence that begins `The file "a.png" (image/png, 1,234 bytes)`, as a file is introduced that
            came with a message or from a sub-agent.
        media: The picture or document.
    """
    name = media.name if media.name != _UNNAMED else ""
    if not name and media.data:
        about = re.escape(f"({media.media_type}, {len(media.content()):,} bytes)")
        found = re.search(rf'The file "([^"\n]+)" {about}', text)
        name = found[1] if found else ""
    return " ".join(seen_of(name).translate(_QUOTES).split())[:_LONGEST]
