"""Markdown as blocks in reading order, and its links written so that they lead somewhere without their page."""

from __future__ import annotations

import re
from functools import cache
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

CODE = ("fence", "code_block")
"""The kinds of blocks that are code."""
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_HEADING = re.compile(r"^#{1,6}\s++(.*)$")


class Block(NamedTuple):
    """One block with its text as it stood. `kind` is what markdown-it calls it: "paragraph", "fence", "table", "heading"."""

    kind: str
    text: str


def blocks(markdown: str) -> list[Block]:
    """The blocks of a text. A fence that is never closed ends with the text, and is closed."""
    lines, found = markdown.split("\n"), []
    for token in _parser().parse(markdown):
        if token.level or not token.map or token.type == "hr":
            continue
        text = "\n".join(lines[slice(*token.map)]).strip("\n").rstrip()
        if token.type == "fence" and text.split("\n")[-1].strip() != token.markup:
            text = f"{text}\n{token.markup}"
        found.append(Block(token.type.removesuffix("_open"), text))
    return found


@cache
def _parser() -> MarkdownIt:
    """Blocks only: what stands inside of paragraphs is quoted as it is."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


def heading_text(block: Block) -> str:
    """The words of a heading."""
    match = _HEADING.match(block.text)
    return match[1].rstrip("#").rstrip() if match else block.text


def demoted(markdown: str, levels: int = 1) -> str:
    """A text with its headings some levels lower, so that it can stand under a heading."""
    shown = []
    fenced = False
    for line in markdown.split("\n"):
        fenced ^= bool(_FENCE.match(line))
        is_heading = not fenced and _HEADING.match(line)
        shown.append("#" * levels + line if is_heading and not line.startswith("#" * (7 - levels)) else line)
    return "\n".join(shown)


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
