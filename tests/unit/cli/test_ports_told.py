"""Which ports `doctor` and `agents` look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from multi_agents.cli.checkup import check_ports
from multi_agents.cli.service.agents import known_targets


@pytest.mark.parametrize(("set_to", "port"), [("9234", 9234), (None, 8000)])
def test_the_port_of_the_supervisor_is_the_one_that_it_would_be_started_at(
    set_to: str | None, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLATFORM_ENGINEER_HOME", str(tmp_path))
    monkeypatch.delenv("PORT", raising=False)
    if set_to:
        monkeypatch.setenv("PORT", set_to)
    (finding,) = check_ports(())
    assert finding.message.startswith(f"{port} is ")
    assert known_targets()[0].url == f"http://127.0.0.1:{port}"
