"""The fenced code blocks of the documentation, and what the comment above each says of it.

    ```python                                   runs as a script
    <!-- file: PATH --> ```python               is written to PATH of a copy of the checkout
    <!-- append: PATH --> ```yaml               parses, and is added to PATH of that copy
    ```bash                                     runs in that copy
    <!-- service; expect: TEXT --> ```bash      runs beside a running service, and prints TEXT
    <!-- no-run: REASON --> ```bash             is only checked for its syntax
    ```json, ```yaml, ```env                    parse
    ```text                                     is for people

The words stand in comments and not in the info string, since what a reader or the RAG agent quotes
is the block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Block:
    """One fenced block. `line` is that of its opening fence, from 1."""

    document: str
    line: int
    language: str
    text: str
    options: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def documents() -> list[str]:
    """Every document for people, relative to the checkout."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


@cache
def tokens_of(document: str) -> list[Token]:
    """What one document consists of, read once in a process."""
    return MarkdownIt().enable("table").parse((ROOT / document).read_text("utf-8"))


@cache
def blocks_of(document: str) -> tuple[Block, ...]:
    """The fenced blocks of one document, in order."""
    found, comment = [], ""
    for token in tokens_of(document):
        if token.type == "fence":
            line = (token.map or [0])[0] + 1
            found.append(Block(document, line, token.info.strip(), token.content, _options(comment)))
        comment = token.content if token.type == "html_block" else ""
    return tuple(found)


def all_blocks(*languages: str) -> list[Block]:
    """The blocks in these languages; all of them without an argument."""
    found = [block for document in documents() for block in blocks_of(document)]
    return [block for block in found if not languages or block.language in languages]


def _options(comment: str) -> dict[str, str]:
    text = comment.strip().removeprefix("<!--").removesuffix("-->").strip()
    pairs = [part.partition(":") for part in text.split(";") if part.strip()]
    return {name.strip(): value.strip() for name, _, value in pairs}
