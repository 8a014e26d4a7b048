"""A pytest plugin that writes what became of each test, for the runner: `-p tests.broken_rules.verdict`."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.broken_rules.worker import libraries


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--verdict FILE` and `--libraries FILE`."""
    parser.addoption(
        "--verdict", type=Path, required=True, help="where each outcome is written, a line of JSON"
    )
    parser.addoption("--libraries", type=Path, help="where the names of the imported libraries are written")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tells which libraries the tests import."""
    listed: Path | None = session.config.getoption("--libraries")
    if listed is not None:
        listed.write_text(json.dumps(libraries(dict(sys.modules), session.config.rootpath)), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begins with an empty file."""
    config.getoption("--verdict").write_text("", "utf-8")
    config.pluginmanager.register(_Writer(config.getoption("--verdict")))


class _Writer:
    def __init__(self, path: Path) -> None:
        self._path = path

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed or report.when == "call":
            error = call.excinfo
            self._write(
                test=report.nodeid.partition("[")[0],
                outcome=report.outcome,
                error=error.type.__name__ if error else "",
                reason=str(error.value).strip().partition("\n")[0] if error else "",
                said="\n".join(text for _, text in report.sections),
            )
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(
                test="", outcome="failed", error="CollectError", reason=str(report.longrepr)[-300:], said=""
            )

    def _write(self, **line: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
