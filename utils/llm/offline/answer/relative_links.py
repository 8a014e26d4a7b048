"""Links of a quoted document that are relative to its page: written so that they lead somewhere without the page."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from urllib.parse import urljoin, urlsplit

_LINK = re.compile(
    r"(?P<text>\[(?:[^\[\]\n]|\n(?![^\S\n]*\n))*\])\((?P<target>[^()\s]+)(?P<title>\s+\"[^\"\n]*\")?\)"
)


def with_whole_links(text: str, page: str) -> str:
    """`text` of a page with each relative link written from where the page is: `(#ports)` becomes `(docs/faq.md#ports)`."""
    base = page.partition("#")[0]
    if not base:
        return text
    return _LINK.sub(
        lambda found: f"{found['text']}({_whole(found['target'], base)}{found['title'] or ''})", text
    )


def _whole(target: str, base: str) -> str:
    if urlsplit(target).scheme or target.startswith("/"):
        return target
    if urlsplit(base).scheme:
        return urljoin(base, target)
    path, hash_, anchor = target.partition("#")
    return f"{normpath(join(dirname(base), path)) if path else base}{hash_}{anchor}"
