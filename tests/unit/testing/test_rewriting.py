"""The workers of a first run divide the rewriting of the tests' asserts."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rewriting import pytest_collection, turned

FILES = [Path(f"test_{letter}.py") for letter in "abcdefg"]


def test_each_worker_begins_at_another_file_and_imports_all_of_them() -> None:
    orders = [turned(FILES, worker, 3) for worker in range(3)]
    assert [order[0].stem for order in orders] == ["test_a", "test_c", "test_e"]
    assert all(sorted(order) == FILES for order in orders)


def test_more_workers_than_files_import_all_of_them() -> None:
    assert all(sorted(turned(FILES[:2], worker, 6)) == FILES[:2] for worker in range(6))


def test_a_file_that_cannot_be_imported_is_left_to_the_collection_which_tells_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (
        ("bad", "raise OSError"),
        ("absent", "import pytest\npytest.skip(allow_module_level=True)"),
    ):
        (tmp_path / f"test_divided_{name}.py").write_text(text)
    (tmp_path / "test_divided_good.py").write_text("")
    (tmp_path / "no_test_divided.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    pytest_collection(_session(tmp_path, [str(tmp_path), str(tmp_path / "test_divided_bad.py::test_one")]))
    assert "test_divided_good" in sys.modules
    monkeypatch.delitem(sys.modules, "test_divided_good")
    assert [name for name in sys.modules if "test_divided" in name] == []


def _session(root: Path, args: list[str]) -> Any:
    """What a worker's plugin looks at."""
    given = {"workerid": "gw1", "workercount": 2}
    config = SimpleNamespace(
        workerinput=given, args=args, rootpath=root, invocation_params=SimpleNamespace(dir=root)
    )
    return SimpleNamespace(config=config)
