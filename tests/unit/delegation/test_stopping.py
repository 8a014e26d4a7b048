"""What a supervisor opened is closed, also where a part of its start or of its stop fails."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from multi_agents.platform_engineer.agent import PlatformEngineer
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.server.agent_app import agent_app
from utils.errors import StorageError
from utils.testing.scripted_model import ScriptedModel


def supervisor(home: Path, kind: type[PlatformEngineer] = PlatformEngineer) -> PlatformEngineer:
    settings = AgentSettings.load({"SUB_AGENTS": "", "LONG_TERM_MEMORY": "false"})
    runtime = AgentRuntime(
        home=home, settings=settings, model=ScriptedModel.of(), checkpointer=InMemorySaver()
    )
    return kind(runtime)


def writers() -> set[threading.Thread]:
    """One for each SQLite file that is open."""
    return {each for each in threading.enumerate() if each.name == "sqlite-write"}


async def test_a_start_that_fails_leaves_no_file_open(tmp_path: Path) -> None:
    (tmp_path / "cards.sqlite").mkdir()
    agent, before = supervisor(tmp_path), writers()
    with pytest.raises(StorageError):
        await agent.start()
    assert writers() <= before


async def test_a_stop_that_fails_leaves_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, before = supervisor(tmp_path), writers()
    stop = agent._registry.stop

    async def fails() -> None:
        await stop()
        raise RuntimeError("not foreseen")

    monkeypatch.setattr(agent._registry, "stop", fails)
    await agent.start()
    await agent.build()
    assert not writers() <= before
    with pytest.raises(RuntimeError):
        await agent.close()
    assert writers() <= before


class Unbuilt(PlatformEngineer):
    async def build(self) -> None:
        raise RuntimeError("not foreseen")


async def test_an_agent_that_cannot_be_built_is_closed(tmp_path: Path) -> None:
    agent, before = supervisor(tmp_path, Unbuilt), writers()
    app = agent_app(agent, agent.runtime.settings.server, url="http://127.0.0.1:1")
    with pytest.raises(RuntimeError):
        async with app.router.lifespan_context(app):
            raise AssertionError("it started")
    assert writers() <= before


async def test_a_graph_that_is_built_again_reads_no_file_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = supervisor(tmp_path)
    read, opened = list[str](), io.open
    monkeypatch.setattr(io, "open", _noting(read, opened))
    assert "{role}" not in agent.system_prompt()
    assert read == []


def _noting(read: list[str], opened: Callable[..., Any]) -> Callable[..., Any]:
    def noted(path: Any, *args: Any, **options: Any) -> Any:
        read.append(str(path))
        return opened(path, *args, **options)

    return noted
