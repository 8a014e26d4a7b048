"""`python -m tests.release`: rehearses a release. Publishes nothing and writes to `.cache/` alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.release.changelog import check_changelog
from tests.release.chart import check_chart
from tests.release.licences import check_licences
from tests.release.locks import check_locks
from tests.release.result import ROOT, Result
from tests.release.tree import check_tree
from tests.release.versions import check_versions, version_of

CHECKS: Mapping[str, Callable[[Path], Result]] = {
    "tree": check_tree,
    "version": check_versions,
    "changelog": check_changelog,
    "locks": check_locks,
    "licences": check_licences,
    "chart": check_chart,
}

MOST_SHOWN = 5
"""Problems of one check that are printed."""


def rehearse(root: Path, checks: Mapping[str, Callable[[Path], Result]] = CHECKS) -> int:
    """Run the checks, print a line for each, and give the exit code: 0 when nothing is wrong, else 1."""
    print(f"Rehearsing the release of {version_of(root)}. Nothing is published.")
    wrong = 0
    for name, check in checks.items():
        result = check(root)
        wrong += bool(result.problems)
        for line in _lines(result):
            print(f"  {'✗' if result.problems else '✓'} {name:<10} {line}", flush=True)
    print(f"{wrong} of {len(checks)} checks failed." if wrong else "Ready: go on with docs/releasing.md.")
    return 1 if wrong else 0


def _lines(result: Result) -> list[str]:
    shown, more = list(result.problems[:MOST_SHOWN]), len(result.problems) - MOST_SHOWN
    return [*shown, f"… and {more} more"] if more > 0 else shown or [result.told]


if __name__ == "__main__":
    sys.exit(rehearse(ROOT))
