"""Nothing here uses a private part of the A2A SDK: a name of its classes or modules that begins with an underscore.

They change without a word, with every version. Found by the syntax tree: imports, what a class that derives from one of the
SDK's (through our own classes too) defines or reads under such a name, and what any file that imports the SDK reads of
other objects under a name that only the SDK's classes use.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.style.sources import CODE, ROOT, python_files, short, tree_of

SDK = "a2a"


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def module_path(module: str) -> Path | None:
    """The source of a module of the SDK."""
    spec = importlib.util.find_spec(SDK)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    path = Path(spec.submodule_search_locations[0]).joinpath(*module.split(".")[1:])
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)


@cache
def sdk_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(tree: ast.AST) -> dict[str, str]:
    """The dotted name behind each name that a file imports, wherever the import stands."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            names |= {each.asname or each.name.partition(".")[0]: each.name for each in node.names}
    return names


def classes(tree: ast.AST) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def own_names(node: ast.ClassDef) -> set[str]:
    """The private names that a class defines, or reads and sets on itself."""
    names = {each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and on_itself(each.value):
            names.add(each.attr)
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return set(filter(private, names))


def on_itself(value: ast.expr) -> bool:
    """Whether this is `self`, `cls` or `super()`."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in {"self", "cls"}


@cache
def sdk_private(dotted: str) -> frozenset[str]:
    """The private names of a class of the SDK with its bases; of none where this is no class."""
    module, _, name = dotted.rpartition(".")
    path = module_path(module)
    if not module.startswith(SDK) or path is None:
        return frozenset()
    tree = sdk_tree(path)
    known = imported(tree)
    node = classes(tree).get(name)
    if node is None:
        return sdk_private(known[name]) if known.get(name, "").startswith(f"{SDK}.") else frozenset()
    bases = [known.get(base.id, f"{module}.{base.id}") for base in node.bases if isinstance(base, ast.Name)]
    inherited = [sdk_private(base) for base in bases if base != dotted]
    return frozenset(own_names(node)).union(*inherited)


@cache
def every_sdk_name() -> frozenset[str]:
    """The private names of all classes of the SDK."""
    root = module_path(SDK)
    assert root is not None
    nodes = [node for path in root.parent.rglob("*.py") for node in classes(sdk_tree(path)).values()]
    return frozenset[str]().union(*map(own_names, nodes))


Sources = Mapping[str, ast.Module]
"""Files by the dotted name of their module."""


def inherited(sources: Sources, module: str, node: ast.ClassDef) -> frozenset[str]:
    """The private names that a class of ours inherits of the SDK."""
    known = imported(sources[module])
    found: frozenset[str] = frozenset()
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0]
        first, _, rest = name.partition(".")
        dotted = ".".join(filter(None, [known.get(first, f"{module}.{first}"), rest]))
        owner, _, bare = dotted.rpartition(".")
        if dotted.startswith(f"{SDK}."):
            found |= sdk_private(dotted)
        elif owner in sources and (parent := classes(sources[owner]).get(bare)) not in (None, node):
            found |= inherited(sources, owner, parent)
    return found


def used(sources: Sources, module: str) -> Iterator[str]:
    """The private parts of the SDK that a file uses."""
    tree = sources[module]
    known = imported(tree)
    for dotted in known.values():
        if dotted.startswith(f"{SDK}.") and any(map(private, dotted.split("."))):
            yield f"imports {dotted}"
    for node in classes(tree).values():
        yield from (f"{node.name}.{name}" for name in own_names(node) & inherited(sources, module, node))
    if any(dotted.startswith(f"{SDK}.") for dotted in known.values()):
        yield from (f"reads {name}" for name in read_of_others(tree) & every_sdk_name())


def read_of_others(tree: ast.AST) -> set[str]:
    """Private names that are read of an object that is not the reader, also by `getattr` and `setattr`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not on_itself(node.value):
            names.add(node.attr)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"getattr", "setattr", "hasattr"}:
            names |= {str(each.value) for each in node.args if isinstance(each, ast.Constant)}
    return set(filter(private, names))


def dotted_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_nothing_uses_a_private_part_of_the_sdk():
    sources = {dotted_name(path): tree_of(path) for path in python_files(*CODE)}
    found = [
        f"{short(path)} {what}" for path in python_files(*CODE) for what in used(sources, dotted_name(path))
    ]
    assert not found


OVERRIDES = "from a2a.compat.v0_3.rest_adapter import REST03Adapter\nclass Rest(REST03Adapter):\n    def {}(self): ...\n"
READS = """
from a2a.server.tasks import InMemoryPushNotificationConfigStore as Store
class Configs(Store):
    def open(self): self.{}.clear()
"""
FOREIGN = """
from a2a.server.agent_execution.active_task import ActiveTask
def tidy(task: ActiveTask): return task.{}
"""
CALLS_SUPER = """
from a2a.server.request_handlers import DefaultRequestHandlerV2
class Ours(DefaultRequestHandlerV2):
    async def cancel(self): await super().{}()
"""
BY_NAME = "import a2a.server.events\ndef peek(queue): return getattr(queue, '{}', None)\n"
SAMPLES = {
    "a method of its own": (OVERRIDES, "_handle_streaming_request", "_answer"),
    "its own table": (READS, "_push_notification_infos", "_configs"),
    "another object": (FOREIGN, "_producer_task", "_ours_alone"),
    "its parent": (CALLS_SUPER, "_cancel_remote", "_cancel_ours"),
    "a name in a string": (BY_NAME, "_is_finished", "_ours_alone"),
    "an import": ("from a2a.server.agent_execution.active_task import {}\n", "_RequestStarted", "ActiveTask"),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_search_finds_a_private_part_in(sample):
    text, theirs, ours = SAMPLES[sample]
    assert list(used({"sample": ast.parse(text.format(theirs))}, "sample"))
    assert not list(used({"sample": ast.parse(text.format(ours))}, "sample"))


def test_the_search_follows_classes_of_our_own_to_those_of_the_sdk():
    sources = {
        "one": ast.parse(
            "from a2a.server.tasks import InMemoryPushNotificationConfigStore as S\nclass A(S): ...\n"
        ),
        "two": ast.parse(
            "from one import A\nclass B(A):\n    def look(self): return self._push_notification_infos\n"
        ),
    }
    assert list(used(sources, "two")) == ["B._push_notification_infos"]
