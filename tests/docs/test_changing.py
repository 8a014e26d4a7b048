"""Each place and each test that the page of changes names exists."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.broken_rules.syntax import definitions
from tests.docs.blocks import ROOT
from tests.style.sources import tree_of

PAGE = (ROOT / "docs/changing.md").read_text("utf-8")
PLACE = re.compile(r"`([\w-]+(?:/[\w.-]+)+|[\w.-]+\.(?:py|toml|md|yaml))(?:::([\w.]+))?`")
TEMPLATE = re.compile(r'define "([\w.]+)"')
SCRIPT = re.compile(r"^(?:export )?(?:function|const|interface|class|type) (\w+)", re.MULTILINE)
SECTIONS = re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
MOST_STEPS = 6


def _named() -> list[tuple[str, str]]:
    return sorted({(path, name) for path, name in PLACE.findall(PAGE)})


@cache
def _names(path: Path) -> set[str]:
    match path.suffix:
        case ".py":
            return set(_of_python(tree_of(path)))
        case ".json":
            return set(_of_mapping(json.loads(path.read_text("utf-8"))))
        case ".yaml":
            return set(_of_mapping(yaml.safe_load(path.read_text("utf-8"))))
        case ".tpl":
            return set(TEMPLATE.findall(path.read_text("utf-8")))
        case ".ts" | ".tsx":
            return set(SCRIPT.findall(path.read_text("utf-8")))
    return set()


def _of_python(tree: ast.Module) -> Iterator[str]:
    yield from (name for name, _ in definitions(tree))
    for node in tree.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _of_mapping(value: object, prefix: str = "") -> Iterator[str]:
    for name, below in value.items() if isinstance(value, dict) else ():
        yield f"{prefix}{name}"
        yield from _of_mapping(below, f"{prefix}{name}.")


@pytest.mark.parametrize("path, name", _named(), ids=lambda each: each or "whole")
def test_a_place_that_the_page_names_exists(path: str, name: str) -> None:
    assert (ROOT / path).exists()
    assert not name or name in _names(ROOT / path)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.splitlines()[0])
def test_each_change_has_few_steps_that_name_files_and_a_test(section: str) -> None:
    steps = re.findall(r"^\d\. (.+)$", section, re.MULTILINE)
    assert 1 <= len(steps) <= MOST_STEPS
    assert PLACE.search(steps[0])
    assert re.search(r"^Test: .*", section, re.MULTILINE)


def test_the_page_is_found_from_the_first_pages() -> None:
    assert "(docs/changing.md)" in (ROOT / "README.md").read_text("utf-8")
    assert "(docs/changing.md)" in (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Where to begin")[1]
