"""What is tagged is what was checked: everything is committed, and the tag is free."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.release.result import Result
from tests.release.versions import version_of

MOST_NAMED = 5


def check_tree(root: Path) -> Result:
    """The state of git."""
    try:
        changed = _git(root, "status", "--porcelain", "--untracked-files=all").splitlines()
        tag = f"v{version_of(root)}"
        tagged = bool(_git(root, "tag", "--list", tag).strip())
    except (OSError, subprocess.CalledProcessError):
        return Result(problems=["this is no checkout of git; release from one"])
    problems = []
    if changed:
        named = ", ".join(line[3:] for line in changed[:MOST_NAMED]) + (
            ", …" if len(changed) > MOST_NAMED else ""
        )
        problems.append(f"not committed: {named}; commit or remove it")
    if tagged:
        problems.append(f"the tag {tag} is taken; raise the version in pyproject.toml")
    return Result(f"everything is committed, and the tag {tag} is free", problems)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout
