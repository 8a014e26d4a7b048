"""The fork server for tests that have no event loop."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from utils.processes.adoption import can_adopt
from utils.processes.fork_client import ForkServerGone
from utils.processes.request import Target
from utils.testing.forked import preloaded

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(not can_adopt(), reason="processes are forked on Linux only")


def test_processes_are_forked_waited_for_and_stopped_without_an_event_loop(tmp_path):
    (tmp_path / "waits.py").write_text("import signal\nprint('waits', flush=True)\nsignal.pause()\n")
    (tmp_path / "ends.py").write_text(
        "import sys\nprint(sys.argv[1], 'decimal' in sys.modules)\nsys.exit(7)\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    with (tmp_path / "log").open("ab") as log, preloaded(["decimal"], environ, log) as server:
        waits = server.start(Target("waits", (), environ), log)
        ends = server.start(Target("ends", ("word",), environ), log)
        assert ends.wait(20) == ends.poll() == 7
        assert waits.poll() is None
        with pytest.raises(TimeoutError):
            waits.wait(0.01)
        assert waits.stop() == -15
    assert "word True" in (tmp_path / "log").read_text()


def test_a_fork_server_that_cannot_import_says_so(tmp_path):
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        (tmp_path / "log").open("ab") as log,
        preloaded(["not_there"], environ, log) as server,
        pytest.raises(ForkServerGone),
    ):
        server.start(Target("json.tool", (), environ), log)
    assert "not_there" in (tmp_path / "log").read_text()
