"""Every error code in the sources: of a class with a `code`, and of a call that makes an error of a code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.docs.blocks import ROOT

FOLDERS = ("utils", "multi_agents", "agents")
NO_ERRORS = ("utils/testing/", "agents/github/testing/", "utils/llm/marker.py")
"""Doubles of servers, and codes of providers."""

BY_POSITION = {"Failed", "Partial", "Rejected", "ToolProblem"}
"""What a turn or a tool ends with: the first argument is the code, but for `Rejected`."""

BY_NAME = {"DelegationFailed": "code", "Rejected": "code", "not_made": "code", "ToolProblem": "error"}
"""The argument that is a code."""


@cache
def codes_in_the_sources() -> dict[str, str]:
    """Where each code stands first."""
    found: dict[str, str] = {}
    for path in sorted(each for folder in FOLDERS for each in (ROOT / folder).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if not name.startswith(NO_ERRORS):
            for code in _codes(ast.parse(path.read_text("utf-8"))):
                found.setdefault(code, name)
    return found


def _codes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for value in _values(node):
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
                yield value.value
            elif isinstance(value, ast.Name):
                yield from (text for (_, name), text in _constants().items() if name == value.id)
            elif isinstance(value, ast.Attribute):
                yield from filter(None, [_constants().get((_last(value.value), value.attr))])


def _values(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.ClassDef(body=body):
            for line in body:
                match line:
                    case ast.Assign(targets=[ast.Name(id="code")], value=value):
                        yield value
                    case ast.AnnAssign(target=ast.Name(id="code"), value=ast.expr() as value):
                        yield value
        case ast.FunctionDef(name=name, args=arguments) if name in BY_NAME:
            pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            yield from (value for one, value in pairs if value and one.arg == BY_NAME[name])
        case ast.Call(func=called, args=args, keywords=keywords):
            name = _last(called)
            if name in BY_POSITION - {"Rejected"}:
                yield from args[:1]
            yield from (each.value for each in keywords if each.arg == BY_NAME.get(name))


@cache
def _constants() -> dict[tuple[str, str], str]:
    """What constants hold that are codes, such as `LOOP` and `INTERNAL`, by module and name."""
    folders = ("utils/a2a_common/protocol", "utils/processes", "multi_agents/platform_engineer")
    paths = [path for folder in folders for path in sorted((ROOT / folder).glob("*.py"))]
    return {
        (path.stem, name): text
        for path in [*paths, ROOT / "utils" / "errors.py"]
        for name, text in _texts(ast.parse(path.read_text("utf-8")))
    }


def _texts(module: ast.Module) -> Iterator[tuple[str, str]]:
    for line in module.body:
        match line:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str() as text)):
                yield name, text


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
