"""The checkout passes every check that needs no commit, and a copy that is broken in one place fails one with the way out."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.release.__main__ import CHECKS, rehearse
from tests.release.result import ROOT, Result
from tests.release.versions import CARRIERS

pytestmark = pytest.mark.processes

FILES = (
    "pyproject.toml", "Dockerfile", ".dockerignore", "helm/platform-engineer/Chart.yaml", "docs/docker.md",
    "docs/kubernetes.md", "CHANGELOG.md", "requirements.lock", "requirements-dev.lock", "LICENSE", "NOTICE",
)  # fmt: skip
FOLDERS = (
    "utils/embeddings/assets",
    "utils/messages/ranks",
    "agents/github/testing/examples",
    "utils/web/built/page",
)
CHANGES = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A command.\n"
WITHOUT_HELM = {name: check for name, check in CHECKS.items() if name != "chart"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of what the checks read, committed, at version 1.2.3."""
    folder = tmp_path / "checkout"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    for name in FOLDERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    _set_version(folder / "pyproject.toml", r'^version = "(.*)"$')
    for name, carried in CARRIERS.items():
        for pattern in carried.values():
            _set_version(folder / name, pattern)
    _write(folder / "CHANGELOG.md", CHANGES)
    _git(folder, "init", "-q")
    _commit(folder)
    return folder


def _set_version(path: Path, pattern: str) -> None:
    text = path.read_text("utf-8")
    _write(path, re.sub(pattern, lambda match: match[0].replace(match[1], "1.2.3"), text, flags=re.MULTILINE))


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def _git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def _commit(root: Path) -> None:
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "As it is")


def _problems(root: Path) -> Mapping[str, list[str]]:
    """The checks that fail, with what they say."""
    found = {name: list(check(root).problems) for name, check in WITHOUT_HELM.items()}
    return {name: problems for name, problems in found.items() if problems}


@dataclass(frozen=True)
class Broken:
    """An edit of one file, the check that must fail, and words of what it says."""

    file: str
    old: str
    new: str
    check: str
    said: str


BROKEN = (
    Broken("pyproject.toml", 'version = "1.2.3"', 'version = "1.3"', "version", "'1.3' is no version"),
    Broken("Dockerfile", "ARG VERSION=1.2.3", "ARG VERSION=1.2.2", "version", "ARG VERSION is 1.2.2; write 1.2.3"),
    Broken("Dockerfile", "ARG VERSION=1.2.3", "ARG VERSION", "version", "Dockerfile: ARG VERSION is missing"),
    Broken("helm/platform-engineer/Chart.yaml", "\nversion: 1.2.3", "\nversion: 2.0.0", "version",
           "Chart.yaml:5: version is 2.0.0; write 1.2.3"),
    Broken("helm/platform-engineer/Chart.yaml", 'appVersion: "1.2.3"', "appVersion: 1.2.4", "version",
           "Chart.yaml:6: appVersion is 1.2.4"),
    Broken("docs/kubernetes.md", "image.tag=1.2.3", "image.tag=1.2.2", "version", "image.tag is 1.2.2"),
    Broken("CHANGELOG.md", "- A command.", "", "changelog", "Added has no entry; remove the heading"),
    Broken("CHANGELOG.md", "### Added\n\n- A command.", "", "changelog", "has nothing of 1.2.3"),
    Broken("CHANGELOG.md", "- A command.", "- A command.\n\n## [1.3.0] - 2026-01-01\n\n### Fixed\n\n- It.", "changelog",
           "has 1.3.0, pyproject.toml 1.2.3; raise the version"),
    Broken("CHANGELOG.md", "- A command.", "- A command.\n\n## [1.2.3] - 2026-01-01\n\n### Fixed\n\n- It.", "changelog",
           "move them below '## [1.2.3] - 2026-01-01', or raise the version"),
    Broken("requirements.lock", "\nhttpx==", "\nhttpy==", "locks", "requirements.lock: httpx is missing; run: make lock"),
    Broken("requirements-dev.lock", "\nruff==", "\nrough==", "locks", "requirements-dev.lock: ruff is missing"),
    Broken("pyproject.toml", '"httpx[socks]>=0.28,<1"', '"httpx>=7"', "locks", "is not >=7; run: make lock"),
    Broken("pyproject.toml", '"tenacity<9.2"', '"tenacity<9"', "locks", "is not <9; run: make lock"),
    Broken("requirements-dev.lock", "\nrich==", "\nrich==9", "locks", "rich is not the one of requirements.lock"),
    Broken("LICENSE", "Apache License", "Some Licence", "licences", "LICENSE holds another text"),
    Broken("NOTICE", "utils/messages/ranks/", "utils/messages/rank/", "licences", "names utils/messages/rank/, which is"),
    Broken("pyproject.toml", 'license = "Apache-2.0"', 'license = "MIT"', "licences", "the licence is MIT"),
    Broken(".dockerignore", "!NOTICE\n", "", "licences", "NOTICE does not go into the image"),
    Broken("Dockerfile", "README.md LICENSE NOTICE", "README.md NOTICE", "licences", "LICENSE does not go into"),
)  # fmt: skip


def test_the_files_of_this_checkout_pass():
    steady = CHECKS.keys() - {"tree", "chart"}
    assert {name: list(CHECKS[name](ROOT).problems) for name in steady} == {name: [] for name in steady}


def test_a_whole_checkout_passes(root):
    assert not _problems(root)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: f"{one.file}: {one.said}")
def test_a_break_fails_its_check_with_the_way_out(root, broken):
    path = root / broken.file
    text = path.read_text("utf-8")
    assert broken.old in text
    _write(path, text.replace(broken.old, broken.new))
    _commit(root)
    found = _problems(root)
    assert found.keys() == {broken.check}
    assert any(broken.said in problem for problem in found[broken.check]), found


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_a_licence_file_that_is_gone_is_missed(root, name):
    (root / name).unlink()
    assert _problems(root)["licences"] == [f"{name} is missing or empty; restore it"]


@pytest.mark.parametrize("name", ["NOTICE", "new.txt"])
def test_what_is_not_committed_is_named(root, name):
    _write(root / name, "utils/messages/ranks/\n")
    assert _problems(root) == {"tree": [f"not committed: {name}; commit or remove it"]}


def test_a_version_that_was_tagged_is_not_released_again(root):
    _git(root, "tag", "v1.2.3")
    assert _problems(root) == {"tree": ["the tag v1.2.3 is taken; raise the version in pyproject.toml"]}


def test_a_folder_without_history_is_told(root):
    shutil.rmtree(root / ".git")
    _write(root / ".git", "gitdir: gone\n")
    assert _problems(root) == {"tree": ["this is no checkout of git; release from one"]}


def test_each_check_has_a_line_and_a_failure_the_exit_code_1(root, capsys):
    def two(_: Path) -> Result:
        return Result(problems=["one; mend it", "another; mend it"])

    def many(_: Path) -> Result:
        return Result(problems=[str(number) for number in range(7)])

    assert rehearse(root, {"good": lambda _: Result("all is well")}) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "Rehearsing the release of 1.2.3. Nothing is published.",
        "  ✓ good       all is well",
        "Ready: go on with docs/releasing.md.",
    ]
    assert rehearse(root, {"good": lambda _: Result("all is well"), "two": two, "many": many}) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[2:4] == ["  ✗ two        one; mend it", "  ✗ two        another; mend it"]
    assert told[-2:] == ["  ✗ many       … and 2 more", "2 of 3 checks failed."]


def test_an_unreleased_section_is_told_as_what_is_to_be_renamed(root):
    told = CHECKS["changelog"](root).told
    assert told == "left to do: rename '## [Unreleased]' to '## [1.2.3] - YYYY-MM-DD' and put a new one above"
    _write(root / "CHANGELOG.md", CHANGES.replace("ed]\n", "ed]\n\n## [1.2.3] - 2026-02-28\n"))
    assert CHECKS["changelog"](root) == Result("'## [1.2.3] - 2026-02-28' is there")
