"""The changelog keeps its form, and the check of the form finds each fault."""

from __future__ import annotations

import pytest

from tests.release.changelog import FILE, form_problems, sections_of, version_problems
from tests.release.result import ROOT
from tests.release.versions import version_of

GOOD = """# Changelog

What users see.

## [Unreleased]

## [0.10.0] - 2026-03-01

### Added

- A command
  that goes on.
- Another.

### Security

- A hole is closed.

## [0.9.0] - 2026-03-01 [YANKED]

### Fixed

- A fault.

[0.10.0]: https://example.com/compare/v0.9.0...v0.10.0
"""


def test_the_changelog_keeps_its_form_and_is_not_ahead_of_the_project():
    text = (ROOT / FILE).read_text("utf-8")
    assert form_problems(text) == []
    assert version_problems(text, version_of(ROOT)) == []


def test_a_changelog_in_its_form_is_read_in_order():
    assert form_problems(GOOD) == []
    unreleased, newest, first = sections_of(GOOD)
    assert (unreleased.version, unreleased.size) == ("", 0)
    assert (newest.version, newest.day, newest.entries) == (
        "0.10.0",
        "2026-03-01",
        {"Added": 2, "Security": 1},
    )
    assert (first.version, first.size) == ("0.9.0", 1)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("# Changelog\n", "# History\n", "begin with '# Changelog'"),
        ("## [Unreleased]\n", "", "'## [Unreleased]' is the first section"),
        ("## [Unreleased]\n", "## [Unreleased]\n\n## [Unreleased]\n", "there is one of it"),
        ("## [Unreleased]\n", "## Unreleased\n", "write '## [Unreleased]' or '## [1.2.3] - YYYY-MM-DD'"),
        ("## [0.10.0] - 2026-03-01", "## 0.10.0, 2026-03-01", "CHANGELOG.md:7: write '## [Unreleased]' or"),
        ("## [0.10.0] - 2026-03-01", "## [0.10] - 2026-03-01", "write '## [Unreleased]' or"),
        ("## [0.10.0] - 2026-03-01", "## [0.10.0] - 2026-02-30", "2026-02-30 is no day"),
        ("## [0.10.0]", "## [0.8.0]", "0.9.0 stands below 0.8.0; newest versions come first"),
        ("## [0.10.0]", "## [0.9.0]", "0.9.0 stands below 0.9.0"),
        ("## [0.10.0] - 2026", "## [0.10.0] - 2025", "0.9.0 has a later day than 0.10.0"),
        ("### Added", "### New", "'New' is no kind of change; take one of Added, Changed, Deprecated, Removed, Fixed"),
        ("### Security", "### Added", "Added stands there twice in one section"),
        ("- A fault.\n", "", "Fixed has no entry; remove the heading"),
        ("### Fixed\n\n- A fault.\n", "", "0.9.0 has no entry; say what changed"),
        ("### Fixed\n", "", "the entry stands below no kind"),
        ("- A fault.\n", "A fault.\n", "write an entry as '- …'"),
        ("### Fixed\n", "#### Fixed\n", "'#### Fixed' is no heading of a version (##) or a kind (###)"),
    ],
)  # fmt: skip
def test_a_fault_of_the_form_is_found(old, new, said):
    assert GOOD.count(old) >= 1
    assert any(said in problem for problem in form_problems(GOOD.replace(old, new, 1)))


@pytest.mark.parametrize(
    "version, ahead", [("0.9.0", True), ("0.10.0", False), ("1.0.0", False), ("1rc1", False)]
)
def test_the_newest_section_is_not_ahead_of_the_project(version, ahead):
    assert bool(version_problems(GOOD, version)) is ahead
