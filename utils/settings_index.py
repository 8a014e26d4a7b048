"""Finds all groups of settings by their location, so that none can be missing from a list.

`python -m utils.settings_index PACKAGE…` prints the names of the settings of these packages and which of their values
are wrong, as JSON, for callers that must not import an agent. Standard input may hold JSON: variables that only the
process of a package has, by package.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from utils.errors import SettingsError
from utils.settings import EnvSettings, process_environment
from utils.settings_docs import groups_of, settings_of

_HERE = Path(__file__).resolve().parent


def shared_groups() -> list[type[EnvSettings]]:
    """The groups of `utils/settings.py`, `utils/protection_settings.py` and of each `utils/*/settings.py`."""
    rooms = sorted(path.parent.name for path in _HERE.glob("*/settings.py"))
    modules = ["utils.settings", "utils.protection_settings", *(f"utils.{room}.settings" for room in rooms)]
    return [group for module in modules for group in groups_of(importlib.import_module(module))]


def groups_in(package: str) -> list[type[EnvSettings]]:
    """The groups of a package's `settings.py`; none for a plain module, which is not imported for this."""
    found = importlib.util.find_spec(package)
    folders = found.submodule_search_locations if found else None
    if not any((Path(folder) / "settings.py").is_file() for folder in folders or ()):
        return []
    return groups_of(importlib.import_module(f"{package}.settings"))


def names_of(groups: Iterable[type[EnvSettings]]) -> set[str]:
    """The variables of these groups."""
    return {setting.variable for group in groups for setting in settings_of(group)}


def wrong_values(
    groups: Iterable[type[EnvSettings]], environ: Mapping[str, str] | None = None
) -> list[SettingsError]:
    """The wrong values, each once, although groups inherit settings from each other.

    Raises:
        SettingsError: The `.env` file cannot be read.
    """
    source = process_environment() if environ is None else environ
    found = [problem for group in groups for problem in group.problems(source)]
    return list({problem.message: problem for problem in found}.values())


def report(packages: Sequence[str], own: Mapping[str, Mapping[str, str]] | None = None) -> dict[str, Any]:
    """A report on the settings of these packages.

    Args:
        packages: The packages.
        own: Variables that only the process of a package has, by package.

    Returns:
        `names` of the settings, a sentence for each value that is `wrong`, and in `wrong_own` those for `own`, by package.
    """
    groups: dict[str, list[type[EnvSettings]]] = {}
    wrong: list[str] = []
    for package in packages:
        try:
            groups[package] = groups_in(package)
        except (ImportError, SyntaxError) as error:
            wrong.append(f"The settings of {package} cannot be read: {type(error).__name__}.")
    every = [group for found in groups.values() for group in found]
    wrong += [problem.message for problem in wrong_values(every)]
    wrong_own = {package: _wrong_own(groups.get(package, []), env) for package, env in (own or {}).items()}
    return {"names": sorted(names_of(every)), "wrong": wrong, "wrong_own": wrong_own}


def _wrong_own(groups: Iterable[type[EnvSettings]], env: Mapping[str, str]) -> list[str]:
    problems = wrong_values(groups, process_environment() | dict(env))
    return [problem.message for problem in problems if problem.variable in env]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(report(sys.argv[1:], json.loads(sys.stdin.read() or "{}"))))
