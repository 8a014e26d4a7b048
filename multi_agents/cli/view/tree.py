"""A task and all that it caused, drawn as a tree. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utils.a2a_common.protocol.extensions import TREE_EXTENSION, USAGE_EXTENSION
from utils.a2a_common.protocol.task_tree import clean_children


def draw(agent: str, task_id: str, state: str, metadata: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the tree below a task, from its metadata."""
    tree = metadata.get(TREE_EXTENSION)
    known: Mapping[str, Any] = tree if isinstance(tree, Mapping) else {}
    if parent := known.get("parent_task_id"):
        yield f"(delegated by another agent, which calls its task {_line(parent)})"
    root = {
        "agent": agent,
        "task_id": task_id,
        "state": state,
        "seconds": known.get("seconds"),
        "tokens": _total(metadata.get(USAGE_EXTENSION)),
    }
    yield _described(root)
    yield from _below(clean_children(known.get("children")), "")


def _below(children: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    for number, child in enumerate(children, 1):
        last = number == len(children)
        yield f"{indent}{'└─ ' if last else '├─ '}{_described(child)}"
        yield from _below(child.get("children", ()), indent + ("   " if last else "│  "))


def _described(task: Mapping[str, Any]) -> str:
    parts = [
        f"{task.get('agent', '?')} {task.get('task_id') or '(no task yet)'}",
        str(task.get("state", "?")),
    ]
    if isinstance(seconds := task.get("seconds"), int | float):
        parts.append(f"{seconds:.1f} s")
    if tokens := task.get("tokens"):
        parts.append(_tokens(tokens))
    if request := task.get("request"):
        parts.append(f'"{request}"')
    return _line(" · ".join(parts))


def _tokens(tokens: Mapping[str, Any]) -> str:
    given, made = tokens.get("input_tokens", 0), tokens.get("output_tokens", 0)
    cost = tokens.get("cost_usd")
    return f"{given:,.0f} in, {made:,.0f} out" + (f", ${cost:.4f}" if cost else "")


def _total(usage: object) -> dict[str, float]:
    total: dict[str, float] = {}
    for counts in usage.values() if isinstance(usage, Mapping) else ():
        for name, number in counts.items() if isinstance(counts, Mapping) else ():
            if isinstance(number, int | float):
                total[name] = total.get(name, 0.0) + number
    return total


def _line(text: object) -> str:
    return " ".join(str(text).split())
