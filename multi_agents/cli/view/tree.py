"""A task and all that it caused, drawn as a tree. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.protocol.task_tree import SubTasks
from utils.events import Usage


def draw(agent: str, task: TaskView) -> Iterator[str]:
    """The lines of the tree below a task."""
    known = task.sub_tasks or SubTasks()
    if known.parent_task_id:
        yield f"(delegated by another agent, which calls its task {_line(known.parent_task_id)})"
    used = sum(task.usage.by_agent.values(), Usage()) if task.usage else Usage()
    root = {
        "agent": agent,
        "task_id": task.task_id,
        "state": task.state.value,
        "seconds": known.seconds,
        "tokens": asdict(used) if used != Usage() else {},
    }
    yield _described(root)
    yield from _below(known.children, "")


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


def _line(text: object) -> str:
    return " ".join(str(text).split())
