"""Pytest plugin that adds up the processor time of each test, over all workers: `-p tests.costs`.

Wall time tells of the machine and of what else runs there. Counted are the process of the test and every process that it
started, also one that still runs. Programs that it had forked from a preloaded interpreter are children of that one.
With COSTS=FILE the figures of each test are written there as JSON.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.preloaded.process import Forked, interpreters

SHOWN = 25
TICK = os.sysconf("SC_CLK_TCK")
KEY = "costs"


def processor_seconds() -> float:
    """What this process, its descendants and its programs have used since they began."""
    own = os.times()
    others = [pid for pid in _children("self") if int(pid) not in interpreters]
    programs = [str(each.pid) for each in Forked.live if each.pid not in interpreters]
    ended = own.children_user + own.children_system + Forked.spent
    return _alone() + ended + sum(map(_of, [*others, *programs]))


def _alone() -> float:
    """The same without programs and descendants, apart from the preloaded interpreters that this process has started."""
    own = os.times()
    return own.user + own.system + sum(sum(_times(str(pid))[:2]) for pid in interpreters)


def _times(pid: str) -> list[float]:
    """What a process has used as user and in the kernel, and the same of the children that it has waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended: from its parent's next look on it is among what the parent has waited for
        return [0.0] * 4
    return [int(field) / TICK for field in stat.rpartition(")")[2].split()[11:15]]


def _of(pid: str) -> float:
    return sum(_times(pid)) + sum(map(_of, _children(pid)))


def _children(pid: str) -> Iterator[str]:
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            yield from thread.read_text(encoding="ascii").split()
        except OSError:
            continue


class Costs:
    """The figures of one process."""

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, float]] = {}
        self.collected = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        """Since the process began: imports are most of it."""
        self.collected = processor_seconds()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        used, began = processor_seconds(), time.monotonic()
        result = yield
        self.tests[item.nodeid] = (processor_seconds() - used, time.monotonic() - began)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send them to the controller."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[KEY] = self.figures()

    def figures(self) -> dict[str, Any]:
        """What a process is told of another."""
        return {"tests": self.tests, "collected": self.collected, "total": processor_seconds()}


class Sum:
    """Joins the figures of all workers, and prints them."""

    def __init__(self, own: Costs) -> None:
        self.own = own
        self.workers: list[dict[str, Any]] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear of a worker that has ended."""
        self.workers.append(getattr(node, "workeroutput", {}).get(KEY, {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the most expensive files, and what collection cost."""
        found = [each for each in self.workers if each]
        if found:
            found.append({"tests": {}, "collected": _alone(), "total": _alone()})
        else:
            found.append(self.own.figures())
        tests = {name: cost for each in found for name, cost in each["tests"].items()}
        files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
        for name, (used, wall) in tests.items():
            row = files[name.partition("::")[0]]
            row[0], row[1], row[2] = row[0] + used, row[1] + wall, row[2] + 1
        terminalreporter.write_sep("-", "processor seconds, seconds, tests")
        for name, (used, wall, count) in sorted(files.items(), key=lambda each: -each[1][0])[:SHOWN]:
            terminalreporter.write_line(f"{used:8.1f} {wall:8.1f} {count:6.0f} {name}")
        collected, total = (sum(each[key] for each in found) for key in ("collected", "total"))
        in_tests = sum(used for used, _ in tests.values())
        terminalreporter.write_line(
            f"{total:.0f} processor seconds in {len(found)} processes:"
            f" {collected:.0f} until collected, {in_tests:.0f} in {len(tests)} tests"
        )
        if "COSTS" in os.environ:
            Path(os.environ["COSTS"]).write_text(json.dumps(found), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    own = Costs()
    config.pluginmanager.register(own, "costs-own")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Sum(own), "costs-sum")
