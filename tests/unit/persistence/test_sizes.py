"""How the sizes of what is stored are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from utils.persistence.sizes import in_words, sizes_of_files, summary_of


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (12_345_678, "12.3 MB"), (5 * 10**9, "5.0 GB")],
)
def test_bytes_are_told_in_the_unit_that_fits(size: int, words: str) -> None:
    assert in_words(size) == words


def test_a_file_counts_with_its_log_and_other_files_do_not(tmp_path: Path) -> None:
    (tmp_path / "tasks.sqlite").write_bytes(b"x" * 3_000)
    (tmp_path / "tasks.sqlite-wal").write_bytes(b"x" * 2_000)
    (tmp_path / "index.sqlite").write_bytes(b"x")
    (tmp_path / "cards.json").write_bytes(b"x" * 9_000)
    sizes = sizes_of_files(tmp_path)
    assert sizes == {"tasks": 5_000, "index": 1}
    assert summary_of(sizes) == "5.0 kB (tasks 5.0 kB, index 1 bytes)"
