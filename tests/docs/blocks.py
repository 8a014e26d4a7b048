"""The fenced code blocks of the documentation, with what their info strings say.

```python                       runs as a script
```python file=PATH             is written to PATH of a copy of the checkout, for the blocks after it
```yaml append=PATH             parses, and is added to PATH of that copy
```bash                         runs in that copy
```bash no-run="REASON"         is only checked for its syntax
```json, ```yaml, ```env        parse
```text                         is for people
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

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
def blocks_of(document: str) -> tuple[Block, ...]:
    """The fenced blocks of one document, in order."""
    tokens = MarkdownIt().parse((ROOT / document).read_text("utf-8"))
    return tuple(
        _block(document, (token.map or [0])[0] + 1, token.info, token.content)
        for token in tokens
        if token.type == "fence"
    )


def all_blocks(*languages: str) -> list[Block]:
    """The blocks in these languages; all of them without an argument."""
    found = [block for document in documents() for block in blocks_of(document)]
    return [block for block in found if not languages or block.language in languages]


def _block(document: str, line: int, info: str, text: str) -> Block:
    language, *rest = shlex.split(info) or [""]
    options = dict(part.split("=", 1) for part in rest)
    return Block(document, line, language, text, options)
