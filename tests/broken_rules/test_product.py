"""Edits find their code by what it is: after a reformat, a rename and a move, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broken_rules.product import Lost, Product
from tests.broken_rules.rules import Edit

CODE = """
class Door:
    def open(self, key):
        if key.fits(self, turned=True):  # only then
            self.locked = False
        return not self.locked
"""
REFORMATTED = CODE.replace("(self, turned=True)", "(\n            self,\n            turned=True,\n        )")
EDIT = Edit("utils/door.py::Door.open", "key.fits(self, turned=True)", "True")


def product(root: Path, **files: str) -> Product:
    for name, text in files.items():
        path = root / "utils" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Product(root)


def test_code_is_replaced_at_its_address(tmp_path: Path) -> None:
    found = product(tmp_path, door=CODE, gate=CODE)
    assert "if True:" in found.broken([EDIT])["utils/door.py"]
    assert found.is_at_its_address(EDIT)
    assert "if key" in (tmp_path / "utils/door.py").read_text()


@pytest.mark.parametrize(
    "name, code",
    [
        ("door", REFORMATTED),
        ("door", REFORMATTED.replace("def open", "def unlock")),
        ("gate", REFORMATTED),
        ("gate", REFORMATTED.replace("def open", "def unlock")),
    ],
)
def test_code_is_found_after_a_reformat_a_rename_and_a_move(tmp_path: Path, name: str, code: str) -> None:
    found = product(tmp_path, **{name: code})
    assert "if True:" in found.broken([EDIT])[f"utils/{name}.py"]
    assert found.is_at_its_address(EDIT) == (name == "door" and "unlock" not in code)


@pytest.mark.parametrize("code", ["", CODE.replace("key", "token"), CODE * 2])
def test_code_that_stands_nowhere_or_twice_is_lost(tmp_path: Path, code: str) -> None:
    with pytest.raises(Lost, match="does not hold once"):
        product(tmp_path, gate=code).broken([EDIT])


def test_statements_are_replaced_by_statements_and_edits_add_up(tmp_path: Path) -> None:
    found = product(tmp_path, door=CODE)
    say = Edit(EDIT.where, "self.locked = False", "self.locked = False\nprint('open')")
    broken = found.broken([EDIT, say])["utils/door.py"]
    assert "if True:" in broken
    assert "print('open')" in broken


def test_text_that_is_no_code_is_replaced_where_it_stands_once(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Ask first.")
    assert Product(tmp_path).broken([Edit("prompt.md", "first", "never")]) == {"prompt.md": "Ask never."}
    with pytest.raises(Lost):
        Product(tmp_path).broken([Edit("prompt.md", "always", "never")])
