"""Machines whose clocks differ: what LangGraph makes ids of checkpoints from."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from langgraph.checkpoint.base import id as ids


def another_machine(monkeypatch: pytest.MonkeyPatch, ahead: float) -> None:
    """Go on as a process that has just started on a machine whose clock is so many seconds ahead."""
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: time.time_ns() + round(ahead * 1e9)))
    monkeypatch.setattr(ids, "_last_v6_timestamp", None)
