"""What is changed in libraries for the whole process: by `install`, not by an import, and listed in the documentation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

LOOK = """
import importlib, json
from a2a.utils.errors import A2A_ERROR_MAPPING
from langchain_core.tracers.context import _configure_hooks
from starlette.convertors import CONVERTOR_TYPES

def look():
    ours = [error for error in A2A_ERROR_MAPPING if error.__module__.startswith("utils.")]
    return [len(ours), "tenant" in CONVERTOR_TYPES, len(_configure_hooks)]

before = look()
for name in ("server.app", "handler.request_handler", "graph.model.call", "graph.graph_build", "base_langgraph_agent"):
    importlib.import_module(f"utils.a2a_common.{name}")
for name in ("context.middleware", "llm.factory", "llm.model_check", "memory.long_term"):
    importlib.import_module(f"utils.{name}")
imported = look()
from utils.process_wide import declared, install
install()
once = look()
install()
print(json.dumps([before, imported, once, look(), sorted(set(declared()))]))
"""


@pytest.mark.processes
def test_an_import_changes_nothing_and_an_install_all_that_is_listed_once() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], cwd=ROOT, capture_output=True, text=True, check=True)
    before, imported, once, twice, declared = json.loads(done.stdout)
    assert imported == before
    assert once == [before[0] + 9, True, before[2] + 4]
    assert twice == once
    page = (ROOT / "docs" / "agent-reference.md").read_text("utf-8")
    assert [what for what in declared if f"| {what} |" not in page] == []


def test_what_is_declared_after_an_install_is_changed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from utils import process_wide

    for name, value in (("_waiting", []), ("_declared", []), ("_installs", False)):
        monkeypatch.setattr(process_wide, name, value)
    done: list[str] = []
    process_wide.declare("early", lambda: done.append("early"))
    assert done == []
    process_wide.install()
    process_wide.declare("late", lambda: done.append("late"))
    process_wide.install()
    assert done == process_wide.declared() == ["early", "late"]


MIDDLEWARE_ALONE = """
from langchain_core.tracers.context import _configure_hooks
from utils.a2a_common.graph.settings import AgentSettings
from utils.context.factory import default_context_middleware
from utils.persistence.artifacts import SqliteArtifactStore
from utils.testing.scripted_model import ScriptedModel

settings = AgentSettings.load({})
store = SqliteArtifactStore("artifacts.db")  # opened by the first call, which there is none of
default_context_middleware(settings.llm, settings.context, ScriptedModel(script=[]), store)
print(*(hook[0].name for hook in _configure_hooks))
"""


@pytest.mark.processes
def test_a_program_that_uses_the_context_middleware_alone_has_its_answers_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MIDDLEWARE_ALONE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {"reported_usage", "context_usage"} <= set(done.stdout.split())
