"""Diagrams name what the code has."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.docs.blocks import ROOT, Block, all_blocks
from tests.style.sources import nodes_of

NAME = re.compile(r"\b(?:[A-Z][a-z]+[A-Z]\w*|[a-z]+_[a-z_]+)\b")
"""A class of more than one word, or a function."""
_PROTOCOL = {"SendStreamingMessage", "StreamResponse"}
"""Methods and messages of A2A."""
_PROSE = {"GitHub"}


@cache
def _defined() -> frozenset[str]:
    """Every class, function and module of the product."""
    found: set[str] = set()
    for folder in ("utils", "multi_agents", "agents"):
        for path in (ROOT / folder).rglob("*.py"):
            found.add(path.stem)
            found |= {
                node.name
                for node in nodes_of(path)
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            }
            found |= set(re.findall(r"^(?:type )?([A-Z]\w+)\b", path.read_text("utf-8"), re.MULTILINE))
    return frozenset(found)


@pytest.mark.parametrize("block", all_blocks("mermaid"), ids=str)
def test_each_name_in_a_diagram_is_one_of_the_code(block: Block):
    named = set(NAME.findall(block.text)) - _PROTOCOL - _PROSE
    assert sorted(named - _defined()) == []


def test_architecture_one_request_delegation_and_context_are_drawn():
    drawn = {block.document for block in all_blocks("mermaid")}
    assert {"README.md", "docs/architecture.md", "docs/delegation.md", "docs/context.md"} <= drawn
