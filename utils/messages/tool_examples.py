"""Adds example requests to a tool's description, since a model sees nothing else of a tool.

A tool has its examples in `metadata["examples"]`, which is not sent. A model gets the description with
some of them, quoted; `split_examples` parses it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_MARK = " For example: "
_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)', re.DOTALL)


def spread(examples: Sequence[str], most: int) -> Sequence[str]:
    """At most `most` of the examples, at even distances, so that all kinds are represented."""
    if len(examples) <= most:
        return examples
    return [examples[index * len(examples) // most] for index in range(most)]


def with_examples(description: str, examples: Sequence[str]) -> str:
    """The description followed by the examples, each quoted as JSON."""
    quoted = "; ".join(json.dumps(example, ensure_ascii=False) for example in examples)
    return f"{description}{_MARK}{quoted}" if quoted else description


def split_examples(description: str) -> tuple[str, list[str]]:
    """The description and the examples that `with_examples` joined."""
    text, mark, quoted = description.rpartition(_MARK)
    if not mark:
        return description, []
    try:
        return text, [str(json.loads(each)) for each in _QUOTED.findall(quoted)]
    except ValueError:
        return description, []


def described(tool: BaseTool, most: int) -> BaseTool:
    """The tool with at most `most` of its examples in the description."""
    examples = spread((tool.metadata or {}).get("examples", ()), most)
    if not examples:
        return tool
    return tool.model_copy(update={"description": with_examples(tool.description, examples)})
