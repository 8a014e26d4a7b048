"""Markdown to a document: headings, paragraphs, list items, code blocks and tables by their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from agents.rag.ingest.document import BlockKind, Document, DocumentBuilder
from agents.rag.ingest.slug import Slugs

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*+(.+)$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_KINDS = {
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
    "paragraph_open": BlockKind.TEXT,
    "blockquote_open": BlockKind.TEXT,
    "html_block": BlockKind.TEXT,
}
_HEADING = 500
"""Characters of a heading that are read."""
_LISTS = ("bullet_list_open", "ordered_list_open")


@cache
def _parser() -> MarkdownIt:
    """Blocks only: markup inside of paragraphs is kept as it is, and parsing it can take very long."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


@cache
def _heading_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def parse_markdown(text: str, fallback_title: str) -> Document:
    """Parse Markdown with tables. A front matter's `title` wins over the first heading."""
    title, text = _front_matter(text)
    lines = text.split("\n")
    tokens = _parser().parse(text)
    builder, slugs = DocumentBuilder(), Slugs()
    for index, token in enumerate(tokens):
        if token.level != 0 or token.map is None:
            continue
        if token.type == "heading_open":
            heading = _plain(tokens[index + 1].content)
            builder.heading(int(token.tag[1]), heading, slugs.of(heading))
        elif token.type in _LISTS:
            _add_items(builder, tokens, index, lines)
        elif token.type in _KINDS:
            _add_block(builder, token, lines)
    return builder.build(title, fallback_title)


def _front_matter(text: str) -> tuple[str | None, str]:
    found = _FRONT_MATTER.match(text)
    if not found:
        return None, text
    title = _FRONT_TITLE.search(found[1])
    return (title[1].strip().strip("\"'") if title else None), text[found.end() :]


def _add_block(builder: DocumentBuilder, token: Token, lines: Sequence[str]) -> None:
    text = _slice(lines, token)
    if token.type == "html_block":
        text = _COMMENT.sub("", text)
    builder.add(text, _KINDS[token.type])


def _add_items(builder: DocumentBuilder, tokens: Sequence[Token], index: int, lines: Sequence[str]) -> None:
    """One block per item of the list; an item that holds code is kept together like code."""
    item: Token | None = None
    for token in tokens[index + 1 :]:
        if token.level == 0:
            break
        if token.type == "list_item_open" and token.level == 1:
            item = token
            kind = BlockKind.ITEM
        elif token.type in ("fence", "code_block", "table_open"):
            kind = BlockKind.CODE
        elif token.type == "list_item_close" and token.level == 1 and item is not None:
            builder.add(_slice(lines, item), kind)


def _slice(lines: Sequence[str], token: Token) -> str:
    first, last = token.map or (0, 0)
    return "\n".join(lines[first:last])


def _plain(markup: str) -> str:
    """The words of a heading without its markup."""
    parsed = _heading_parser().parseInline(markup[:_HEADING])
    children = [child for token in parsed for child in token.children or ()]
    kept = (child.content or " " for child in children if child.type in ("text", "code_inline", "softbreak"))
    return "".join(kept).strip()
