"""Finds and replaces code by its syntax tree, so that layout, comments and line breaks do not count. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Place:
    """Where code stands: `size` nodes from `index` on in the list `field` of `owner`; no list without an index."""

    owner: ast.AST
    field: str
    index: int | None = None
    size: int = 1


def definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Every class and function of a module, with its qualified name."""
    yield from _below(tree, "")


def _below(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _DEFINITIONS):
            yield f"{prefix}{child.name}", child
            yield from _below(child, f"{prefix}{child.name}.")
        else:
            yield from _below(child, prefix)


def scope(tree: ast.Module, name: str) -> ast.AST | None:
    """What a qualified name stands for; the module itself for the empty one, nothing for one that is not there."""
    return next((node for found, node in definitions(tree) if found == name), None) if name else tree


def places(within: ast.AST, old: str, *, as_statements: bool) -> list[Place]:
    """Where this code stands inside a node."""
    wanted = _statements(old)
    if not as_statements:
        expression = _expression(wanted)
        return [place for place, node in _expressions(within) if _same([node], [expression])]
    return [
        Place(owner, field, index, len(wanted))
        for owner, field, body in _bodies(within)
        for index in range(len(body) - len(wanted) + 1)
        if _same(body[index : index + len(wanted)], wanted)
    ]


def replace(place: Place, new: str) -> None:
    """Put other code in a place; the tree is changed."""
    statements = _statements(new)
    if place.index is None:
        setattr(place.owner, place.field, _expression(statements))
        return
    nodes: Sequence[ast.AST] = statements
    if not isinstance(getattr(place.owner, place.field)[place.index], ast.stmt):
        nodes = [_expression(statements)]
    getattr(place.owner, place.field)[place.index : place.index + place.size] = nodes


def is_expression(code: str) -> bool:
    """Whether this is one expression and no other statement."""
    found = _statements(code)
    return len(found) == 1 and isinstance(found[0], ast.Expr)


def names(code: str) -> set[str]:
    """The variables and attributes in this code, each of which stands in the text of a file that holds it."""
    nodes = [node for statement in _statements(code) for node in ast.walk(statement)]
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute)
    }


def _same(nodes: Sequence[ast.AST], others: Sequence[ast.AST]) -> bool:
    """Whether these are the same code. Types are compared first: writing out every node below a node takes long."""
    return [type(node) for node in nodes] == [type(node) for node in others] and all(
        ast.dump(node) == ast.dump(other) for node, other in zip(nodes, others, strict=True)
    )


def _statements(code: str) -> list[ast.stmt]:
    return ast.parse(code).body


def _expression(statements: Sequence[ast.stmt]) -> ast.expr:
    (only,) = statements
    assert isinstance(only, ast.Expr)
    return only.value


def _expressions(within: ast.AST) -> Iterator[tuple[Place, ast.expr]]:
    for owner in ast.walk(within):
        for field, value in ast.iter_fields(owner):
            if isinstance(value, ast.expr):
                yield Place(owner, field), value
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield Place(owner, field, index), item


def _bodies(within: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    for owner in ast.walk(within):
        for field, value in ast.iter_fields(owner):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield owner, field, value
