"""Pytest plugin: a worker tells of what was set up and taken down only where it did not pass, or where it was asked for.

pytest-xdist sends three reports of each test, and the last one holds all that the test printed once more. Writing, reading and
keeping those two took a quarter of what a test costs that does nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

_NEEDLESS = "needless"


def is_needless(report: pytest.TestReport, reportchars: str, durations: int | None) -> bool:
    """Whether nobody looks at a report: the result of a test is that of its call, while nothing else fails.

    Args:
        report: What a worker would send.
        reportchars: What `-r` asks for; the output of tests that passed has what was printed in between.
        durations: How many of the slowest are asked for, which includes setting up; none where it is not set.
    """
    return report.passed and report.when != "call" and durations is None and not set(reportchars) & set("pPA")


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(config: pytest.Config, report: Any) -> dict[str, Any] | None:
    asked = config.getoption("reportchars"), config.getoption("durations")
    if hasattr(config, "workerinput") and isinstance(report, pytest.TestReport):
        return {_NEEDLESS: True} if is_needless(report, *asked) else None
    return None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have the part of xdist that runs in a worker send no needless report."""
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = _sparing(plugin.sendevent)


def _sparing(send: Any) -> Any:
    def sendevent(name: str, **told: Any) -> None:
        if _NEEDLESS not in (told.get("data") or {}):
            send(name, **told)

    return sendevent
