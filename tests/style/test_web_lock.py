"""What is bundled into the page, and what tests run in node, is locked by name, version and hash, from whatever registry it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.style.sources import ROOT

WEB = ROOT / "multi_agents" / "web"
LOCKED = (WEB, ROOT / "tests" / "e2e" / "interop")
BUILT = ROOT / "utils" / "web" / "built"


@pytest.mark.parametrize("folder", LOCKED, ids=lambda folder: folder.name)
def test_each_package_has_a_version_and_a_hash_and_no_address(folder: Path) -> None:
    packages = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    locked = {name: entry for name, entry in packages.items() if name}
    assert locked
    assert [name for name, entry in locked.items() if "version" not in entry] == []
    assert [
        name for name, entry in locked.items() if not entry.get("integrity", "").startswith("sha512-")
    ] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    assert "://" not in "".join(
        value for entry in locked.values() for value in entry.values() if isinstance(value, str)
    )


@pytest.mark.parametrize("folder", LOCKED, ids=lambda folder: folder.name)
def test_each_direct_package_has_one_version(folder: Path) -> None:
    described = json.loads((folder / "package.json").read_text("utf-8"))
    versions = {**described["dependencies"], **described.get("devDependencies", {})}
    assert [name for name, version in versions.items() if not version[0].isdigit()] == []


def test_the_licences_of_what_is_bundled_come_along():
    said = (BUILT / "page" / "licences.txt").read_text("utf-8")
    for name in ("react", "@assistant-ui/react", "react-markdown", "rehype-sanitize"):
        assert f"\n{name} " in f"\n{said}"
    permissive = {"MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
    packages = said.split(f"\n{'-' * 80}\n\n")
    assert {text.splitlines()[1] for text in packages} <= permissive
    assert [text.splitlines()[0] for text in packages if len(text) < 300] == []
