"""The documented backup keeps every copy apart, and what is documented to restore one puts all of it back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of

pytestmark = pytest.mark.processes

DOCUMENT = "docs/backup.md"
COPYING = [
    line
    for block in blocks_of(DOCUMENT)
    for line in block.text.splitlines()
    if line.startswith("cp -a .data")
]
(RESTORING,) = [block.text for block in blocks_of(DOCUMENT) if "mv .data" in block.text]


def run(text: str, folder: Path, day: int) -> None:
    """Run a block as if it were a day of 2027."""
    clock = f'date() {{ command date -u -d "2027-01-{day:02} 09:30:00" "$@"; }}\n'
    subprocess.run(["bash", "-euo", "pipefail", "-c", clock + text], cwd=folder, check=True, timeout=60)


def write(folder: Path, **files: str) -> None:
    (folder / ".data").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / ".data" / name).write_text(text, "utf-8")


def read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


@pytest.mark.parametrize("copying", COPYING)
def test_a_later_copy_of_the_data_is_what_is_restored(copying: str, tmp_path: Path):
    write(tmp_path, tasks="old")
    run(copying, tmp_path, 1)
    write(tmp_path, tasks="new")
    run(copying, tmp_path, 2)
    write(tmp_path, tasks="newest", made_later="x")

    run(RESTORING, tmp_path, 3)

    assert read(tmp_path / ".data") == {"tasks": "new"}
    assert read(tmp_path / "data-replaced-20270103-093000") == {"tasks": "newest", "made_later": "x"}
    assert read(tmp_path / "data-backup-20270101-093000") == {"tasks": "old"}


def test_a_copy_is_restored_where_no_data_is(tmp_path: Path):
    write(tmp_path, tasks="old")
    run(COPYING[0], tmp_path, 1)
    (tmp_path / ".data").rename(tmp_path / "elsewhere")

    run(RESTORING, tmp_path, 2)

    assert read(tmp_path / ".data") == {"tasks": "old"}


def test_nothing_is_moved_away_where_no_copy_is(tmp_path: Path):
    write(tmp_path, tasks="only")
    with pytest.raises(subprocess.CalledProcessError):
        run(RESTORING, tmp_path, 1)
    assert read(tmp_path / ".data") == {"tasks": "only"}
