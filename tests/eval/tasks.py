"""The multi-turn tasks of `bfcl-eval`: requests, the calls that are right, and the simulators they act on.

The simulators are plain Python files of the package (Apache-2.0), imported from the downloaded archive after
its hash was compared; of its dependencies only `mpmath` (BSD) is needed, for one function.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import json
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.eval.bfcl import DATA, DataMissingError, rows, wheel

_TASKS = "BFCL_v4_multi_turn_base.json"
_HASHES = {
    "bfcl-eval==2026.3.23": "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    "mpmath==1.3.0": "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
}
_CODE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the task's solution has it."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """Requests of one user, each with the calls that answer it, and the world that they act on."""

    name: str
    requests: tuple[str, ...]
    calls: tuple[tuple[Call, ...], ...]
    classes: tuple[str, ...]
    config: dict[str, Any]


def tasks() -> list[Task]:
    """All tasks, with their simulators ready to import.

    Raises:
        DataMissingError: A package cannot be downloaded, or is not the one that is expected.
    """
    for package in _HASHES:
        path = str(_checked(package))
        if path not in sys.path:
            sys.path.append(path)
    with zipfile.ZipFile(wheel()) as archive:
        right = {row["id"]: row["ground_truth"] for row in rows(archive, f"{DATA}/possible_answer/{_TASKS}")}
        return [_task(row, right[row["id"]]) for row in rows(archive, f"{DATA}/{_TASKS}")]


def _checked(package: str) -> Path:
    path = wheel(package)
    if hashlib.sha256(path.read_bytes()).hexdigest() != _HASHES[package]:
        raise DataMissingError(f"{path.name} is not the archive that was read when this was written.")
    return path


def _task(row: dict[str, Any], right: list[list[str]]) -> Task:
    said = tuple("\n".join(message["content"] for message in turn) for turn in row["question"])
    calls = tuple(tuple(_call(text) for text in turn) for turn in right)
    return Task(row["id"], said, calls, tuple(row["involved_classes"]), row["initial_config"])


def _call(text: str) -> Call:
    """A call from its source; its arguments are literals, and nothing is evaluated."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise DataMissingError(f"not a call: {text}")
    kwargs = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return Call(node.func.id, tuple(map(ast.literal_eval, node.args)), kwargs)


class World:
    """The simulators of one task."""

    def __init__(self, task: Task) -> None:
        self._parts = [_instance(name, task.config.get(name, {})) for name in task.classes]

    def run(self, call: Call) -> str:
        """What a call answers; an error is an answer too, as in the package."""
        part = next(part for part in self._parts if hasattr(part, call.name))
        try:
            answer = getattr(part, call.name)(*call.args, **call.kwargs)
        except Exception as error:  # a simulator may raise anything at a wrong argument
            return f"Error during execution: {error}"
        return answer if isinstance(answer, str) else json.dumps(answer, default=str)

    def same(self, other: World) -> bool:
        """Whether all public attributes are equal, which is how the package compares final states."""
        return all(_state(mine) == _state(its) for mine, its in zip(self._parts, other._parts, strict=True))


def _instance(name: str, config: dict[str, Any]) -> Any:
    made = getattr(importlib.import_module(f"{_CODE}.{_MODULES[name]}"), name)()
    if hasattr(made, "_load_scenario"):
        made._load_scenario(copy.deepcopy(config), long_context=False)
    return made


def _state(part: Any) -> dict[str, Any]:
    return {key: value for key, value in vars(part).items() if not key.startswith("_")}
