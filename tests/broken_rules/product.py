"""The product's code as the table of broken rules sees it: edits find their places in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.broken_rules.rules import Edit
from tests.broken_rules.syntax import Place, definitions, is_expression, names, places, replace, scope

ROOMS = ("utils", "multi_agents", "agents")


class Lost(Exception):
    """The code that an edit replaces stands nowhere, or at several places."""


class Product:
    """The modules below a root, parsed when they are asked for.

    Args:
        root: The checkout.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._trees: dict[str, ast.Module] = {}

    def broken(self, edits: Sequence[Edit]) -> dict[str, str]:
        """The files that these edits change, by their paths, changed.

        Raises:
            Lost: The code of an edit stands nowhere, or not once.
        """
        fresh = Product(self._root)
        texts = {edit.file: fresh._text(edit) for edit in edits if not edit.is_code}
        changed = [fresh._apply(edit) for edit in edits if edit.is_code]
        return texts | {file: ast.unparse(fresh._tree(file)) for file in changed}

    def is_at_its_address(self, edit: Edit) -> bool:
        """Whether the code stands where the edit says, and was not moved or renamed since."""
        if not (self._root / edit.file).exists():
            return False
        if not edit.is_code:
            return True
        within = scope(self._tree(edit.file), edit.symbol)
        return within is not None and len(_found(within, edit)) == 1

    def _text(self, edit: Edit) -> str:
        text = (self._root / edit.file).read_text("utf-8")
        if text.count(edit.old) != 1:
            raise Lost(f"{edit.where} does not hold once: {edit.old}")
        return text.replace(edit.old, edit.new)

    def _apply(self, edit: Edit) -> str:
        file, place = self._find(edit)
        replace(place, edit.new)
        ast.fix_missing_locations(self._tree(file))
        return file

    def _find(self, edit: Edit) -> tuple[str, Place]:
        """The place at the address; else under the same name elsewhere, else in the same module, else anywhere."""
        for looked_at in (self._addressed, self._moved, self._renamed, self._anywhere):
            found = [(file, place) for file, node in looked_at(edit) for place in _found(node, edit)]
            if len(found) == 1:
                return found[0]
        raise Lost(f"{edit.where} does not hold once: {edit.old}")

    def _addressed(self, edit: Edit) -> Iterator[tuple[str, ast.AST]]:
        if (self._root / edit.file).exists():
            node = scope(self._tree(edit.file), edit.symbol)
            if node is not None:
                yield edit.file, node

    def _moved(self, edit: Edit) -> Iterator[tuple[str, ast.AST]]:
        for file in self._files(edit) if edit.symbol else ():
            yield from ((file, node) for name, node in definitions(self._tree(file)) if name == edit.symbol)

    def _renamed(self, edit: Edit) -> Iterator[tuple[str, ast.AST]]:
        if (self._root / edit.file).exists():
            yield edit.file, self._tree(edit.file)

    def _anywhere(self, edit: Edit) -> Iterator[tuple[str, ast.AST]]:
        for file in self._files(edit):
            yield file, self._tree(file)

    def _files(self, edit: Edit) -> Iterator[str]:
        """Those with every name that the edit replaces: parsing all of them takes seconds."""
        wanted = names(edit.old)
        for room in ROOMS:
            for path in sorted((self._root / room).rglob("*.py")):
                text = path.read_text("utf-8")
                if all(name in text for name in wanted):
                    yield path.relative_to(self._root).as_posix()

    def _tree(self, file: str) -> ast.Module:
        if file not in self._trees:
            self._trees[file] = ast.parse((self._root / file).read_text("utf-8"))
        return self._trees[file]


def _found(within: ast.AST, edit: Edit) -> list[Place]:
    as_statements = not (is_expression(edit.old) and is_expression(edit.new))
    return places(within, edit.old, as_statements=as_statements)
