"""The built files are what the source makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.web.npm import BUILT, build

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_committed_files_are_what_the_source_makes(tmp_path):
    build(tmp_path / "built")
    made, committed = files(tmp_path / "built"), files(BUILT)
    assert sorted(made) == sorted(committed), "run `make web`, and commit utils/web/built"
    changed = [name for name, content in made.items() if committed[name] != content]
    assert changed == [], "run `make web`, and commit utils/web/built"
