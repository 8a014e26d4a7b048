"""What editors, git and pre-commit are told agrees with what `make fmt` does, and the tree keeps to it."""

from __future__ import annotations

import configparser
import re
import subprocess
import tomllib

import pytest
import yaml

from tests.style.sources import ROOT, short, tracked_files

OTHERS = (
    "utils/embeddings/assets/",
    "utils/messages/ranks/",
    "agents/github/testing/examples/",
    "utils/web/built/",
    "docs/images/",
    "tests/e2e/upgrade/archives/",
    "tests/e2e/upgrade/homes/",
)
RUFF_INDENT = "4"
"""What ruff indents by where `indent-width` is not set."""


def _editors() -> configparser.ConfigParser:
    found = configparser.ConfigParser(default_section="", interpolation=None)
    found.read_string("[top]\n" + (ROOT / ".editorconfig").read_text("utf-8"))
    return found


def _fmt() -> tuple[list[str], list[str]]:
    """The folders that `make fmt` formats, and its commands without them."""
    text = (ROOT / "Makefile").read_text("utf-8")
    (folders,) = re.findall(r"^CODE := (.+)$", text, re.MULTILINE)
    (recipe,) = re.findall(r"^fmt:.*\n((?:\t.+\n)+)", text, re.MULTILINE)
    commands = [
        line.strip().replace("$(BIN)", ".venv/bin").removesuffix(" $(CODE)") for line in recipe.splitlines()
    ]
    return folders.split(), commands


def test_editors_indent_and_wrap_python_as_ruff_does():
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]
    python = _editors()["*.py"]
    assert "indent-width" not in ruff
    assert dict(python) == {"indent_size": RUFF_INDENT, "max_line_length": str(ruff["line-length"])}
    assert _editors()["top"]["root"] == "true"
    assert _editors()["*"]["indent_style"] == "space"


def test_editors_keep_the_tabs_that_make_needs():
    (section,) = [name for name in _editors().sections() if "Makefile" in name]
    assert _editors()[section]["indent_style"] == "tab"


@pytest.mark.processes
def test_every_text_ends_its_lines_as_editors_are_told_to():
    told = _editors()["*"]
    assert (told["charset"], told["end_of_line"]) == ("utf-8", "lf")
    assert told["insert_final_newline"] == told["trim_trailing_whitespace"] == "true"
    wrong = []
    for path in tracked_files():
        if short(path).startswith(OTHERS) or not (text := path.read_bytes()):
            continue
        if b"\r" in text or not text.endswith(b"\n") or re.search(rb"[ \t]$", text, re.MULTILINE):
            wrong.append(short(path))
    assert not wrong


def test_files_of_others_are_left_alone_by_editors_and_git():
    (section,) = [name for name in _editors().sections() if "embeddings" in name]
    assert section == "{" + ",".join(name.rstrip("/") for name in OTHERS) + "}/**"
    assert set(_editors()[section].values()) == {"unset"}
    attributes = (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    assert {f"{name}** -text" for name in OTHERS} <= set(attributes)


@pytest.mark.processes
@pytest.mark.parametrize("name", [".ci/run", "Makefile", "Dockerfile", "utils/errors.py", "docs/cli.md"])
def test_git_writes_lf_on_every_system(name):
    try:
        done = subprocess.run(["git", "check-attr", "text", "eol", "--", name], cwd=ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    except (OSError, subprocess.CalledProcessError):  # an image or an archive has no history
        assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    else:
        assert done.stdout.splitlines() == [f"{name}: text: auto", f"{name}: eol: lf"]


def test_a_commit_is_formatted_by_the_commands_of_make_fmt_and_nothing_fetched():
    folders, commands = _fmt()
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    hooks = config["repos"][0]["hooks"]
    assert [hook["entry"] for hook in hooks] == commands
    assert {hook["language"] for hook in hooks} == {"system"}
    assert {hook["files"] for hook in hooks} == {f"^({'|'.join(folders)})/"}
    assert all(hook["types"] == ["python"] for hook in hooks)
