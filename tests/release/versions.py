"""The version stands in `pyproject.toml`; every other file that must carry it carries the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.release.result import Result

NUMBERS = r"(?:0|[1-9]\d*)"
VERSION = re.compile(rf"{NUMBERS}\.{NUMBERS}\.{NUMBERS}")
"""Three numbers: what is the same version to Python (PEP 440) and to Helm (SemVer)."""

CARRIERS = {
    "Dockerfile": {"ARG VERSION": r"^ARG VERSION=(.*)$"},
    "helm/platform-engineer/Chart.yaml": {
        "version": r'^version: "?([^"\n]*)"?$',
        "appVersion": r'^appVersion: "?([^"\n]*)"?$',
    },
    "docs/docker.md": {"the tag of IMAGE": r"\bIMAGE=\S+:([^\s:/]+)"},
    "docs/kubernetes.md": {
        "image.tag": r"\bimage\.tag=(\S*)",
        "tag": r"^  tag: (.*)$",
    },
}
"""By file, what carries the version there, each found at least once by its pattern."""


def project_of(root: Path) -> dict[str, object]:
    """The table `project` of a checkout's `pyproject.toml`."""
    found: dict[str, object] = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def version_of(root: Path) -> str:
    """The version of a checkout."""
    return str(project_of(root)["version"])


def check_versions(root: Path) -> Result:
    """Whether every carrier says what `pyproject.toml` says."""
    version = version_of(root)
    if not VERSION.fullmatch(version):
        return Result(
            problems=[f"pyproject.toml: {version!r} is no version; write three numbers, such as 1.2.3"]
        )
    problems = [
        problem
        for name, carried in CARRIERS.items()
        for what, pattern in carried.items()
        for problem in _differences(root, name, what, pattern, version)
    ]
    return Result(f"{version} in pyproject.toml, {', '.join(CARRIERS)}", problems)


def _differences(root: Path, name: str, what: str, pattern: str, version: str) -> list[str]:
    text = (root / name).read_text("utf-8")
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if not found:
        return [
            f"{name}: {what} is missing; add it with {version}, or take it from tests/release/versions.py"
        ]
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what} is {match[1]}; write {version}"
        for match in found
        if match[1] != version
    ]
