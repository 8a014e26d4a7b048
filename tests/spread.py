"""Pytest plugin that decides which tests one worker runs: those of a file, or of files that share what takes long to make."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

TOGETHER = (
    "tests/style/",
    "tests/docs/test_diagrams",
    "tests/docs/test_named",
    "tests/docs/test_changing",
    "tests/release/test_versions",
)
"""Beginnings of the paths of those that read the syntax tree of every file, which `tests/style/sources.py` parses once."""


class Spread(LoadFileScheduling):  # type: ignore[misc]
    """As `--dist loadfile`."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER[0] if nodeid.startswith(TOGETHER) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Take the place of `--dist loadfile`, and of no other."""
    return Spread(config, log) if config.getoption("dist") == "loadfile" else None
