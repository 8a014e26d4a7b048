"""Every dependency of `pyproject.toml` is in the lock files, in a version that its range allows.

No index is asked: a lock that passes may still lack a package that a dependency has come to need, which the next
`make lock` finds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release.result import Result

RUN, DEVELOP = "requirements.lock", "requirements-dev.lock"
WAY_OUT = "run: make lock"

Pins = dict[str, list[Requirement]]


def check_locks(root: Path) -> Result:
    """Both locks against `pyproject.toml`, and against each other."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    run, develop = (pins_of((root / name).read_text("utf-8")) for name in (RUN, DEVELOP))
    needed = project["project"]["dependencies"]
    tools = project["dependency-groups"]["dev"]
    limits = project["tool"]["uv"]["constraint-dependencies"]
    problems = [
        *unmet(RUN, run, [*needed, *limits]),
        *unmet(DEVELOP, develop, [*needed, *tools, *limits]),
        *(
            f"{DEVELOP}: {name} is not the one of {RUN}, so that the tests run with another; {WAY_OUT}"
            for name, pins in run.items()
            if set(map(str, pins)) != set(map(str, develop.get(name, ())))
        ),
    ]
    told = f"{len(needed)} dependencies and {len(tools)} tools are locked within their ranges"
    return Result(told, problems)


def pins_of(text: str) -> Pins:
    """The pins of a lock file by normalised name; a package may have one for each platform."""
    found: Pins = {}
    for line in re.sub(r"\\\n", "", text).splitlines():
        pinned = line.partition(" --hash=")[0].strip()
        if pinned and not pinned.startswith("#"):
            pin = Requirement(pinned)
            found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


def unmet(lock: str, pins: Pins, needed: Sequence[str]) -> Iterator[str]:
    """The requirements that a lock does not meet."""
    for requirement in map(Requirement, needed):
        locked = pins.get(canonicalize_name(requirement.name), [])
        if not locked:
            yield f"{lock}: {requirement.name} is missing; {WAY_OUT}"
        for pin in locked:
            (version,) = (one.version for one in pin.specifier)
            if not requirement.specifier.contains(version, prereleases=True):
                yield f"{lock}: {pin.name} {version} is not {requirement.specifier}; {WAY_OUT}"
