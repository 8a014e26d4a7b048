"""The event loop of an agent's process."""

from __future__ import annotations

import asyncio
import importlib
import sys

import pytest

from utils.processes import event_loop


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not run on Windows")
def test_agents_run_on_the_faster_loop():
    import uvloop

    with asyncio.Runner(loop_factory=event_loop.new_event_loop) as runner:
        assert isinstance(runner.get_loop(), uvloop.Loop)


def test_agents_run_on_the_standard_loop_where_there_is_no_other(monkeypatch):
    try:
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "uvloop", None)
            importlib.reload(event_loop)
        with asyncio.Runner(loop_factory=event_loop.new_event_loop) as runner:
            assert type(runner.get_loop()).__module__.startswith("asyncio")
    finally:
        importlib.reload(event_loop)
