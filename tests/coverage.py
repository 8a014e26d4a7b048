"""Pytest plugin that measures which lines and branches the tests run, over all workers: `-p tests.coverage`.

slipcover instruments the product's modules where they are imported, which costs a fifth of the processor time that tracing
each line does. Its own command is not used: it writes its result twice, the second time without that of the workers.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

MEASURED = "utils,multi_agents,agents"
LEAST = 88.0
"""Percent of lines and branches below which a run fails."""
SHOWN = 10
"""Files shown, those with the smallest share first."""

_FOLDER = "SLIPCOVER_COVERAGE_DIR"
"""Variable in which slipcover's plugin names the folder where workers leave what they measured."""

os.environ.setdefault("SLIPCOVER_ENABLED", "1")
os.environ.setdefault("SLIPCOVER_BRANCH", "1")
os.environ.setdefault("SLIPCOVER_SOURCE", MEASURED)


def _found() -> dict[str, Any] | None:
    folder = os.environ.get(_FOLDER)
    merged = Path(folder) / "merged.json" if folder else None
    if merged is None or not merged.is_file():
        return None
    read: dict[str, Any] = json.loads(merged.read_text(encoding="utf-8"))
    return read


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session):
    """Fail a run whose tests leave too much of the product out."""
    result = yield
    found = None if "PYTEST_XDIST_WORKER" in os.environ else _found()
    if found and found["summary"]["percent_covered"] < LEAST and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the share, and the files with the smallest."""
    found = _found()
    if found is None:
        return
    shares = {name: file["summary"]["percent_covered"] for name, file in found["files"].items()}
    for name in sorted(shares, key=lambda each: shares[each])[:SHOWN]:
        terminalreporter.write_line(f"{shares[name]:6.1f} % of {name}")
    share = found["summary"]["percent_covered"]
    terminalreporter.write_line(
        f"{share:6.2f} % of lines and branches are covered; {LEAST:.0f} % are required"
    )
    shutil.rmtree(os.environ[_FOLDER], ignore_errors=True)
