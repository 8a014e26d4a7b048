"""A page that runs a tool of the developers says first what installs it: the environment of `make chat` has none of them."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from tests.docs.blocks import ROOT, blocks_of, documents

MODULE = re.compile(r"python3? -m (\w+)")
LOCKED = re.compile(r"^([\w.-]+)==", re.MULTILINE)
FOR_DEVELOPERS = re.compile(r"^([\w-]+):.*\bsetup-dev\b", re.MULTILINE)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _installed_by_setup() -> set[str]:
    """The modules that `make setup` puts there, besides Python's and those of the checkout."""
    locked = {_plain(name) for name in LOCKED.findall((ROOT / "requirements.lock").read_text("utf-8"))}
    found = packages_distributions().items()
    return {module for module, names in found if locked & set(map(_plain, names))} | {"pip", "venv"}


@cache
def _install_all() -> re.Pattern[str]:
    targets = ["setup-dev", *FOR_DEVELOPERS.findall((ROOT / "Makefile").read_text("utf-8"))]
    return re.compile(rf"\bmake (?:[\w-]+ )*(?:{'|'.join(targets)})\b")


def _missing(text: str, before: str) -> list[str]:
    """The modules that a text runs and nothing before it installs."""
    there = _installed_by_setup() | sys.stdlib_module_names
    installed = _install_all().search
    return [
        run[1]
        for run in MODULE.finditer(text)
        if run[1] not in there
        and not (ROOT / run[1]).exists()
        and not installed(before + text[: run.start()])
    ]


@pytest.mark.parametrize("document", documents())
def test_a_tool_that_only_developers_have_comes_after_the_command_that_installs_it(document: str) -> None:
    assert _missing((ROOT / document).read_text("utf-8"), "") == []


@pytest.mark.parametrize("document", documents())
def test_who_runs_the_blocks_of_a_page_one_after_the_other_has_the_tools_that_they_need(
    document: str,
) -> None:
    run = ""
    for block in blocks_of(document):
        assert _missing(block.text, run) == [], str(block)
        run += block.text


def test_the_environment_of_the_chat_lacks_the_tools_of_the_developers() -> None:
    assert "uvicorn" in _installed_by_setup()
    assert not {"pytest", "mypy", "ruff"} & _installed_by_setup()
    assert _install_all().search("run `make fmt lint test-fast`")
